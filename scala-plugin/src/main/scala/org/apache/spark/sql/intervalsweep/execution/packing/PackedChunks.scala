// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLShuffleWriteMetricsReporter}
import org.apache.spark.sql.types.{BinaryType, DataType}
import org.apache.spark.util.MutablePair

/**
 * How rows are packed for a shuffle.
 *
 * @param metrics metrics of the node, which count rows, and their bytes if it has such a metric
 */
case class ShufflePacking(partitions: Int, numFields: Int, metrics: Map[String, SQLMetric]) {
  val written: SQLMetric = metrics(SQLShuffleWriteMetricsReporter.SHUFFLE_RECORDS_WRITTEN)
  val dataSize: Option[SQLMetric] = metrics.get(ShufflePacking.DataSize)
}

object ShufflePacking {

  /**
   * The bytes that a task packs for all partitions together, and the most and least for one
   * partition.
   */
  private val PackedBytes = 16L << 20
  private val MostBytes = 256L << 10
  private val LeastBytes = 4L << 10

  /** The metric that counts the bytes of the rows before they are packed, if a node has it. */
  val DataSize = "dataSize"

  /** The columns of the shuffle itself: the bytes of a chunk. */
  private[packing] val columns = Array[DataType](BinaryType)

  /** The bytes that are packed for one partition, given the number of partitions. */
  def bytesFor(partitions: Int): Long =
    math.max(LeastBytes, math.min(MostBytes, PackedBytes / partitions))
}

/**
 * A row, and the number of the partition that it goes to. Spark's pairs would make an object of
 * each number.
 */
final class AddressedRow(var partition: Int = 0, var row: InternalRow = null) {
  def update(partition: Int, row: InternalRow): AddressedRow = {
    this.partition = partition
    this.row = row
    this
  }
}

/** Chunks of packed rows, each with the partition that it goes to. The pair object is reused. */
private[packing] abstract class PackedChunks(packing: ShufflePacking)
    extends Iterator[Product2[Int, InternalRow]] {
  import packing.partitions

  protected val packers = new Array[RowPacker](partitions)
  private val mostBytes = ShufflePacking.bytesFor(partitions)
  private val context = TaskContext.get()
  private val counted = context.taskMetrics().shuffleWriteMetrics
  private val project = UnsafeProjection.create(ShufflePacking.columns)
  private val packed = new GenericInternalRow(1)
  private val pair = new MutablePair[Int, InternalRow]

  /** The partition whose rows are returned next; -1 if it is not known yet. */
  protected var full: Int = -1
  private var rest = 0

  /** Packs rows, perhaps until a packer is full, which becomes [[full]]. False if all are packed. */
  protected def fill(): Boolean

  protected final def isFull(partition: Int): Boolean =
    packers(partition) != null && packers(partition).size >= mostBytes

  protected final def packer(partition: Int): RowPacker = {
    if (packers(partition) == null) packers(partition) = new RowPacker(packing.numFields)
    packers(partition)
  }

  override def hasNext: Boolean = {
    while (full < 0 && fill()) {}
    while (full < 0 && rest < partitions) {
      if (packers(rest) != null && packers(rest).numRows > 0) full = rest
      rest += 1
    }
    full >= 0
  }

  override def next(): Product2[Int, InternalRow] = {
    if (!hasNext) throw new NoSuchElementException
    context.killTaskIfInterrupted()
    val packer = packers(full)
    packing.written.add(packer.numRows - 1L)
    counted.incRecordsWritten(packer.numRows - 1L)
    packing.dataSize.foreach(_.add(packer.rowBytes))
    packed.update(0, packer.take())
    pair.update(full, project(packed))
    full = -1
    pair
  }
}

/** Packs rows one by one. */
private[packing] final class PackedAddresses(
    addressed: Iterator[AddressedRow],
    packing: ShufflePacking)
    extends PackedChunks(packing) {

  override protected def fill(): Boolean = {
    while (full < 0 && addressed.hasNext) {
      val next = addressed.next()
      packer(next.partition).add(next.row)
      if (isFull(next.partition)) full = next.partition
    }
    full >= 0
  }
}
