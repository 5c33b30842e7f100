// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.sql.intervalsweep.execution.packing._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class KeyNumbersSuite extends AnyFunSuite {
  import KeyNumbersSuite.NoLimit
  import PackedBatchesSuite.whole

  private val random = new Random(7)

  private def columns(types: Seq[DataType], keys: Seq[Int]): PeriodColumns = {
    val input = types.map(AttributeReference("key", _)())
    val (from, to) = (AttributeReference("from", LongType)(), AttributeReference("to", LongType)())
    PeriodColumns(from +: input :+ to, keys.map(input), from, to, Nil)
  }

  private def value(dataType: DataType): Any = {
    val n = if (random.nextInt(9) == 0) random.nextLong() else random.nextInt(5) - 2L
    dataType match {
      case _ if random.nextInt(9) == 0 => null
      case BooleanType => n > 0
      case ByteType => n.toByte
      case ShortType => n.toShort
      case _ if dataType.defaultSize == 4 => n.toInt
      case _ => n
    }
  }

  private def rows(columns: PeriodColumns, n: Int): Seq[UnsafeRow] = {
    val project = UnsafeProjection.create(columns.input.map(_.dataType).toArray)
    Seq.fill(n) {
      project(InternalRow(columns.input.map(c => value(c.dataType)): _*)).copy()
    }
  }

  /** Chunks of the rows, as batches. Rows are packed from rows and from batches. */
  private def batches(rows: Seq[UnsafeRow], types: Array[DataType]): Seq[RowBatch] =
    rows.grouped(300).toSeq.map { some =>
      val packer = new RowPacker(types.length)
      some.foreach(packer.add)
      RowUnpacker.unsafeRows(Iterator(packer.take()), types).asInstanceOf[InBatches].batch
    }

  test("keys in columns get the numbers and the rows of keys that come one by one") {
    val chosen = whole.indices.map(Seq(_)) ++
      Seq(Nil, Seq(4, 3), Seq(0, 6, 9), whole.indices, whole.indices.reverse) :+
      Seq.fill(70)(random.nextInt(whole.size)) // two words of NULL flags
    for (keys <- chosen) {
      val columns = this.columns(whole, keys)
      val all = rows(columns, 1000)
      val (words, _) = columns.words.get
      val (single, together) = (new DistinctRows, new DistinctRows)
      val (oneByOne, byColumns) =
        (new KeyNumbers(single, NoLimit), new KeyNumbers(together, NoLimit))
      val keysOf = UnsafeProjection.create(columns.keys, columns.input)
      val expected = all.map(row => oneByOne.of(keysOf(row)))
      val numbers = batches(all, columns.input.map(_.dataType).toArray).flatMap { batch =>
        val first = random.nextInt(2)
        val found = new Array[Int](batch.numRows + 3)
        for ((from, n) <- Seq((0, first), (first, batch.numRows - first))) {
          assert(byColumns.hasRoom(n, n * words.width))
          byColumns.numberAll(batch, words, from, n, found, 3 + from)
        }
        found.drop(3)
      }
      assert(numbers === expected, s"by $keys")
      assert(together.size == single.size && (keys.isEmpty || single.size > 1))
      (0 until single.size).foreach(k => assert(together(k) == single(k)))
    }
  }

  test("keys that are fractions or texts, or must be computed, are not taken from columns") {
    assert(columns(whole, Seq(0, 4)).words.isDefined)
    for (other <- Seq(FloatType, DoubleType, StringType, BinaryType))
      assert(columns(whole :+ other, Seq(4, whole.size)).words.isEmpty)
    val computed = columns(whole, Seq(4))
    assert(computed.copy(numbers = Seq(Add(computed.from, computed.to))).words.isEmpty)
    assert(computed.copy(numbers = Seq(computed.input(4))).words.isEmpty, "not 64 bits")
  }
}

private[periods] object KeyNumbersSuite {

  /** Grants all memory. */
  object NoLimit extends BlockMemory {
    override def isShared: Boolean = false
    override def tryReserve(bytes: Long): Boolean = true
    override def reserve(bytes: Long): Unit = ()
    override def release(bytes: Long): Unit = ()
  }
}
