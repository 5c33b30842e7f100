// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, AttributeSet, GenericInternalRow, UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.intervalsweep.execution.packing.{BatchRow, RowPacker, ShufflePacking}
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType}

/**
 * Packs the rows of one side of a stream operator into chunks, each for one state partition.
 * Spark's shuffle and grouping then handle one chunk instead of some thousand rows.
 *
 * @param number  the chunk number of the side
 * @param copied  the chunk number for copies of rows, if a copy must be distinguishable from the
 *                row in its first partition
 * @param columns the columns that are packed
 * @param keys    the columns that decide to which partition a row goes
 * @param time    the column by which the rows of a key are spread over partitions, if they are
 * @param fanout  the number of partitions of a key
 * @param output  the columns partition, side (the chunk number) and chunk
 */
case class PartitionedBatches(
    number: Int,
    copied: Option[Int],
    columns: Seq[Attribute],
    keys: Seq[Attribute],
    time: Option[Attribute],
    fanout: Fanout,
    override val output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def producedAttributes: AttributeSet = AttributeSet(output)

  override protected def withNewChildInternal(newChild: LogicalPlan): PartitionedBatches =
    copy(child = newChild)
}

object PartitionedBatches {
  def apply(
      number: Int,
      columns: Seq[Attribute],
      keys: Seq[Attribute],
      time: Option[Attribute],
      fanout: Fanout,
      child: LogicalPlan,
      copied: Option[Int] = None): PartitionedBatches = {
    val output = Seq("partition" -> IntegerType, "side" -> IntegerType, "chunk" -> BinaryType).map {
      case (name, dataType) => AttributeReference(name, dataType, nullable = false)()
    }
    PartitionedBatches(number, copied, columns, keys, time, fanout, output, child)
  }
}

/**
 * Sends at least one chunk, possibly an empty one, from each task to each state partition. So each
 * partition is called in each micro-batch, and knows the watermark of the previous micro-batch.
 *
 * @param instance   a number that no other node has. Otherwise Spark would reuse the shuffle of
 *                   equal rows for two operators, and the second operator would get no watermark
 * @param partitions the number of state partitions
 */
case class PartitionedBatchesExec(
    instance: Long,
    number: Int,
    copied: Option[Int],
    columns: Seq[Attribute],
    keys: Seq[Attribute],
    time: Option[Attribute],
    fanout: Fanout,
    override val output: Seq[Attribute],
    partitions: Int,
    child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "PartitionedBatches"

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override protected def doExecute(): RDD[InternalRow] = {
    val (packed, input) = (columns, child.output)
    val address = PartitionAssigner(keys, time, fanout, partitions)
    val numbers = number +: copied.filter(_ => address.copies > 1).toSeq
    child.execute().mapPartitionsInternal(new PartitionedChunks(_, numbers, packed, address, input))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PartitionedBatchesExec =
    copy(child = newChild)
}

/** @param numbers the chunk number of rows, then the chunk number of copies if they have one */
private final class PartitionedChunks(
    rows: Iterator[InternalRow],
    numbers: Seq[Int],
    columns: Seq[Attribute],
    address: PartitionAssigner,
    input: Seq[Attribute])
    extends Iterator[InternalRow] {
  private val partitions = address.partitions
  private val keys = StatePartitions.numbers(partitions)

  /** One packer per partition, then one per partition for copies if they have a number. */
  private val packers = Array.fill(partitions * numbers.size)(new RowPacker(columns.size))
  private val copies = packers.length - partitions
  private val mostBytes = ShufflePacking.bytesFor(packers.length)
  private val firstPartition = UnsafeProjection.create(Seq(address.first), input)
  private val project = UnsafeProjection.create(columns, input)
  private val areColumns = columns.map(_.exprId) == input.map(_.exprId)
  private val toUnsafe =
    UnsafeProjection.create(Array[DataType](IntegerType, IntegerType, BinaryType))
  private val result = new GenericInternalRow(3)

  /** The packers whose chunks are returned next. */
  private val full = mutable.Queue.empty[Int]
  private var rest = 0

  override def hasNext: Boolean = {
    while (full.isEmpty && rows.hasNext) add(rows.next())
    while (full.isEmpty && rest < packers.length) {
      if (rest < partitions || packers(rest).numRows > 0) full += rest
      rest += 1
    }
    full.nonEmpty
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val packer = full.dequeue()
    result.update(0, keys(packer % partitions))
    result.update(1, numbers(packer / partitions))
    result.update(2, packers(packer).take())
    toUnsafe(result)
  }

  private def add(row: InternalRow): Unit = {
    val first = firstPartition(row).getInt(0)
    val packed = row match {
      case _: UnsafeRow | _: BatchRow if areColumns => row
      case _ => project(row)
    }
    var k = 0
    while (k < address.copies) {
      val packer = (first + k) % partitions + (if (k == 0) 0 else copies)
      packers(packer).add(packed)
      if (packers(packer).size >= mostBytes) full += packer
      k += 1
    }
  }
}
