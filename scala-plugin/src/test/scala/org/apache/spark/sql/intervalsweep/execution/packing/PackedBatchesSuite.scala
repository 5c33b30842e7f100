// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLShuffleWriteMetricsReporter}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

class PackedBatchesSuite extends AnyFunSuite with BeforeAndAfterAll {
  import PackedBatchesSuite.whole

  private val random = new Random(11)
  private val types = (whole ++ Seq(FloatType, DoubleType, StringType)).toArray[DataType]
  private val columns = types.map(AttributeReference("c", _)()).toSeq

  override def beforeAll(): Unit = TaskContext.setTaskContext(TaskContext.empty())
  override def afterAll(): Unit = TaskContext.unset()

  private def packing(partitions: Int): ShufflePacking = ShufflePacking(
    partitions,
    types.length,
    Map(SQLShuffleWriteMetricsReporter.SHUFFLE_RECORDS_WRITTEN -> new SQLMetric("sum", 0L)))

  /** Some values are extreme, and some of many rows are equal. */
  private def word(dataType: DataType): Long = {
    val n = if (random.nextBoolean()) random.nextLong() else random.nextInt(7).toLong - 3
    dataType match {
      case BooleanType => n & 1
      case ByteType => n.toByte.toLong
      case ShortType => n.toShort.toLong
      case FloatType => java.lang.Float.floatToRawIntBits(n.toFloat).toLong
      case _ if dataType.defaultSize == 4 => n.toInt.toLong
      case _ => n
    }
  }

  private def batch(n: Int): RowBatch = {
    val nulls = types.map(_ =>
      if (random.nextInt(3) == 0) null else Array.fill(n)(random.nextInt(5) == 0))
    val texts = types.indices.map { k =>
      if (types(k) != StringType) null
      else Array.tabulate(n) { i =>
        if (nulls(k) != null && nulls(k)(i)) null
        else UTF8String.fromString("ä" * random.nextInt(20))
      }
    }
    val words = types.map(t => if (t == StringType) null else Array.fill(n)(word(t)))
    new RowBatch(n, words, nulls, texts.toArray)
  }

  private def rows(batches: Seq[RowBatch]): BatchedRows = new BatchedRows(types) {
    private val rest = batches.iterator
    override protected def nextBatch(): RowBatch = rest.nextOption().orNull
  }

  /** The rows that each partition gets, in their order. */
  private def unpacked(chunks: PackedChunks): Map[Int, Seq[UnsafeRow]] =
    chunks.map(c => c._1 -> c._2.getBinary(0)).toSeq.groupMap(_._1)(_._2)
      .map { case (partition, packs) =>
        partition -> packs.flatMap(RowUnpacker.unsafeRows(_, types.length).map(_.copy()))
      }

  test("a batch gets the partitions and the bytes of Spark's rows") {
    val keys = whole.indices.map(Seq(_)) ++ Seq(Seq(4, 3), Seq(0, 6, 9), whole.indices)
    for (key <- keys; partitions <- Seq(1, 3, 200)) {
      val partitioning = HashPartitioning(key.map(columns), partitions)
      val batches = Seq(batch(0), batch(700), batch(1), batch(90))
      val hashed = HashedBatch.of(partitioning, columns).get
      val found = unpacked(new PackedBatches(rows(batches), hashed, packing(partitions)))
      val (address, project) = (
        UnsafeProjection.create(Seq(partitioning.partitionIdExpression), columns),
        UnsafeProjection.create(types))
      val expected = rows(batches).map { row =>
        address(row).getInt(0) -> project(row: InternalRow).copy()
      }.toSeq.groupMap(_._1)(_._2)
      assert(expected.values.map(_.size).sum == 791)
      assert(found == expected, s"keys $key, $partitions partitions")
    }
  }

  test("other keys have no batch hash") {
    val others = Seq(FloatType, DoubleType, StringType).map(AttributeReference("c", _)())
    for (key <- others)
      assert(HashedBatch.of(HashPartitioning(Seq(key, columns.head), 3), others ++ columns).isEmpty)
  }

  test("large batches are returned in several chunks") {
    val packing = this.packing(2)
    val hashed = HashedBatch.of(HashPartitioning(Seq(columns(4)), 2), columns).get
    val chunks = new PackedBatches(rows(Seq.fill(8)(batch(4096))), hashed, packing).toSeq
    assert(chunks.size > 8)
    assert(packing.written.value == 8 * 4096 - chunks.size, "Spark counts one for each chunk")
  }
}

private[execution] object PackedBatchesSuite {

  /** The types that [[HashedBatch.isWhole]]. */
  val whole: Seq[DataType] = Seq(
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    DateType,
    TimestampType,
    TimestampNTZType,
    YearMonthIntervalType(),
    DayTimeIntervalType())
}
