// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, AttributeSet, BindReferences, GenericInternalRow, Literal,
  Murmur3Hash, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.intervalsweep.execution.packing.{BatchRow, RowPacker, RowShuffle}
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType}
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/**
 * The rows of one side of a stream operator in chunks, each for one slot of its state: Spark's
 * shuffle and its grouping are asked once for some thousand rows.
 *
 * @param number  of the side
 * @param columns what is packed of a row
 * @param keys    the columns that decide to which slot it goes
 * @param output  the slot, the side, the chunk
 */
case class PackSlots(
    number: Int,
    columns: Seq[Attribute],
    keys: Seq[Attribute],
    override val output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def producedAttributes: AttributeSet = AttributeSet(output)

  override protected def withNewChildInternal(newChild: LogicalPlan): PackSlots =
    copy(child = newChild)
}

object PackSlots {
  def apply(number: Int, side: StreamSide, child: LogicalPlan): PackSlots = {
    val output = Seq("slot" -> IntegerType, "side" -> IntegerType, "chunk" -> BinaryType).map {
      case (name, dataType) => AttributeReference(name, dataType, nullable = false)()
    }
    PackSlots(number, side.columns, side.keys, output, child)
  }

  /**
   * For each partition of so many a number that Spark's hash sends there: so that slots, which are
   * shuffled by that hash, are one to a partition.
   */
  private[streams] def slots(partitions: Int): Array[Int] = {
    val slots = Array.fill(partitions)(-1)
    var missing = partitions
    var candidate = 0
    while (missing > 0) {
      val partition = Math.floorMod(Murmur3_x86_32.hashInt(candidate, 42), partitions)
      if (slots(partition) < 0) {
        slots(partition) = candidate
        missing -= 1
      }
      candidate += 1
    }
    slots
  }
}

/**
 * Each task sends a chunk to each slot, if only an empty one: so that each slot sees each
 * micro-batch, and knows which watermark the one before it had.
 *
 * @param partitions of the state
 */
case class PackSlotsExec(
    number: Int,
    columns: Seq[Attribute],
    keys: Seq[Attribute],
    override val output: Seq[Attribute],
    partitions: Int,
    child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "PackSlots"

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override protected def doExecute(): RDD[InternalRow] = {
    val (side, packed, keyed, input, n) = (number, columns, keys, child.output, partitions)
    child.execute().mapPartitionsInternal(new SlotChunks(_, side, packed, keyed, input, n))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackSlotsExec =
    copy(child = newChild)
}

private final class SlotChunks(
    rows: Iterator[InternalRow],
    side: Int,
    columns: Seq[Attribute],
    keys: Seq[Attribute],
    input: Seq[Attribute],
    partitions: Int)
    extends Iterator[InternalRow] {
  private val slots = PackSlots.slots(partitions)
  private val packers = Array.fill(partitions)(new RowPacker(columns.size))
  private val mostBytes = RowShuffle.bytesFor(partitions)
  private val project = UnsafeProjection.create(columns, input)
  private val areColumns = columns.map(_.exprId) == input.map(_.exprId)
  private val hash = BindReferences.bindReference(
    Murmur3Hash(if (keys.isEmpty) Seq(Literal(0)) else keys, 42),
    input)
  private val toUnsafe = UnsafeProjection.create(Array[DataType](IntegerType, IntegerType, BinaryType))
  private val result = new GenericInternalRow(3)

  /** The slot whose rows are given out next, if some are known to be. */
  private var full = -1
  private var rest = 0

  override def hasNext: Boolean = {
    while (full < 0 && rows.hasNext) add(rows.next())
    if (full < 0 && rest < partitions) {
      full = rest
      rest += 1
    }
    full >= 0
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    result.update(0, slots(full))
    result.update(1, side)
    result.update(2, packers(full).take())
    full = -1
    toUnsafe(result)
  }

  private def add(row: InternalRow): Unit = {
    val slot = Math.floorMod(hash.eval(row).asInstanceOf[Int], partitions)
    val packer = packers(slot)
    packer.add(row match {
      case _: UnsafeRow | _: BatchRow if areColumns => row
      case _ => project(row)
    })
    if (packer.size >= mostBytes) full = slot
  }
}
