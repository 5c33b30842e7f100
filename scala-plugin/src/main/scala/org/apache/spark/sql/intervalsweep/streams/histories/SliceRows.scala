// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.{
  Dependency, OneToOneDependency, Partition, PartitionIdPassthrough, ShuffleDependency,
  SparkContext, TaskContext
}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec, RDDScanExec, ShuffledRowRDD, SparkPlan, UnsafeRowSerializer
}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType}

/**
 * The rows of a slice, which a job writes once and any job can read: the rows of streams as they
 * are, and the rows of [[Combination]]s.
 *
 * @param chunks the chunks of valid rows that [[ValidRowsProcessor]] emits
 * @param end    the end of the slice for the query
 */
private[histories] final class SliceRows(
    chunks: RDD[InternalRow],
    slice: Slice,
    end: Long,
    metrics: Map[String, SQLMetric]) {
  private val combinations = ArrayBuffer.empty[Combination]
  private val whole = mutable.Set.empty[Int]

  def context: SparkContext = chunks.sparkContext

  /** Rows that are combined before they are written. Call this while the query is planned. */
  def combined(combination: Combination): RDD[InternalRow] = {
    combinations += combination
    new CombinedRows(this, combinations.size - 1, combination.types.size)
  }

  /** Tells which streams are read as they are. Call this when the query has been planned. */
  def readBy(plan: SparkPlan): Unit = plan.foreachWithSubqueries {
    case scan: RDDScanExec => scan.rdd match {
        case rows: WholeRows => whole += rows.input
        case _ =>
      }
    case adaptive: AdaptiveSparkPlanExec => readBy(adaptive.inputPlan)
    case _ =>
  }

  /** Lazy, as it must know all readers. */
  private lazy val dependency = {
    val writer =
      new SliceWriter(slice, end, combinations.toSeq, whole.toSet, metrics(SliceRows.Combined))
    new ShuffleDependency[Int, InternalRow, InternalRow](
      chunks.mapPartitionsInternal { emitted =>
        val partition = TaskContext.getPartitionId()
        val project = UnsafeProjection.create(Array[DataType](IntegerType, BinaryType))
        writer.written(emitted.map(_.getBinary(0))).map { case (reader, bytes) =>
          (partition, project(InternalRow(reader, bytes)))
        }
      },
      new PartitionIdPassthrough(chunks.getNumPartitions),
      new UnsafeRowSerializer(2),
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(metrics))
  }

  /** The chunks of a reader. */
  def read(reader: Int): RDD[Array[Byte]] =
    new ShuffledRowRDD(dependency, metrics)
      .mapPartitionsInternal(_.filter(_.getInt(0) == reader).map(_.getBinary(1)))

  /** The rows of a stream, with their periods. */
  def ofInput(input: Int, values: Int): RDD[InternalRow] = {
    val ofSlice = slice
    read(SliceWriter.Whole).mapPartitionsInternal(ValidRow.of(_, input, values, ofSlice))
  }

  /** No rows. It makes the job write the rows, and so the state, if the query reads none. */
  def none: RDD[InternalRow] =
    new ShuffledRowRDD(dependency, metrics, Array(CoalescedPartitionSpec(0, 0)))
}

private[histories] object SliceRows {

  /** The name of the metric. */
  val Combined = "combinedRows"
}

/**
 * The rows of a slice that one reader reads. Their dependency is made late, as it must know all
 * readers, and so the planned query.
 */
private[histories] abstract class RowsOfSlice(@transient private val rows: SliceRows)
    extends RDD[InternalRow](rows.context, Nil) {
  protected def read(rows: SliceRows): RDD[InternalRow]

  @transient private lazy val source = read(rows)

  override protected def getDependencies: Seq[Dependency[_]] =
    Seq(new OneToOneDependency(source))

  override protected def getPartitions: Array[Partition] = source.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    firstParent[InternalRow].iterator(split, context)
}

/** The rows of a stream that are valid in the slice. */
private[histories] final class WholeRows(
    @transient val rows: SliceRows,
    val input: Int,
    values: Int)
    extends RowsOfSlice(rows) {
  override protected def read(rows: SliceRows): RDD[InternalRow] = rows.ofInput(input, values)
}

/** The rows of a combination. */
private final class CombinedRows(@transient rows: SliceRows, number: Int, fields: Int)
    extends RowsOfSlice(rows) {
  override protected def read(rows: SliceRows): RDD[InternalRow] = {
    val numFields = fields
    rows.read(number).mapPartitionsInternal(_.flatMap(RowUnpacker.unsafeRows(_, numFields)))
  }
}
