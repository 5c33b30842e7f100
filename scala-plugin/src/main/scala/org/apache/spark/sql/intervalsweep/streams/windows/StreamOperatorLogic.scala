// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.intervalsweep.streams.partitioning.{Fanout, StreamSide}
import org.apache.spark.sql.intervalsweep.streams.state.{StateLayout, TimeBuckets}
import org.apache.spark.sql.types.StructType

/**
 * The logic of a stream operator for the rows of a partition. It has no state of its own: rows that
 * are needed later are in the partition's [[TimeBuckets]].
 *
 * The driver creates an instance and sends it to the tasks. Objects that a task derives from it,
 * such as compiled projections, are transient and lazy.
 */
trait StreamOperatorLogic extends Serializable {

  /** The inputs, the left side first. A chunk of rows belongs to one of them, by its number. */
  def sides: Seq[StreamSide]

  /** The columns of the emitted rows. */
  def output: StructType

  /** For each side the number of partitions of a key. */
  def fanout: Seq[Fanout] = sides.map(_ => Fanout.One)

  /** Whether real-time mode is possible, where a call has one row and more rows may follow. */
  def takesRowByRow: Boolean = false

  /** The layout of the stored rows. */
  def state: StateLayout

  /** The width of a time bucket, in microseconds. */
  def bucketMicros: Long

  /** The rows that a partition emits. Each row is valid until the next one is read. */
  def run(batch: PartitionBatch): Iterator[InternalRow]
}

/**
 * The input of a partition in a micro-batch, or one row of it in real-time mode. A partition is
 * called in each micro-batch in which rows arrive, and in each one that moves the watermark.
 *
 * @param chunks the chunks of each side, then for each side those of copies of rows, whose
 *               originals are in another partition
 * @param before the watermark of the previous micro-batch, in microseconds. Rows with a time up
 *               to this are late
 * @param now    rows of later calls have time > now. It is the watermark of this micro-batch. In
 *               real-time mode it is `before`, since the watermark makes rows late only from the
 *               next micro-batch on
 */
final class PartitionBatch(
    sides: Seq[StreamSide],
    chunks: IndexedSeq[Seq[Array[Byte]]],
    val before: Long,
    val now: Long,
    val store: TimeBuckets,
    val counts: StreamCounts) {

  /** The rows of a side that are not late. Each row is valid until the next one is read. */
  def rows(side: Side): Iterator[InternalRow] = {
    val own = sides(side.number)
    // Only the first partition of a row counts it as late.
    val firsts = inTime(own, chunks(side.number), () => counts.late += 1)
    firsts ++ inTime(own, chunks(side.number + sides.size), () => ())
  }

  private def inTime(
      side: StreamSide,
      chunks: Seq[Array[Byte]],
      whenLate: () => Unit): Iterator[InternalRow] = {
    val time = side.timeOrdinal
    RowUnpacker.unpack(chunks.iterator, side.types).filter { row =>
      val isLate = !row.isNullAt(time) && row.getLong(time) <= before
      if (isLate) whenLate()
      !isLate
    }
  }
}
