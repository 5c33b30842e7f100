// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.streams.partitioning.{Fanout, StreamSide}
import org.apache.spark.sql.intervalsweep.streams.state.{StateLayout, TimeBucketStore}
import org.apache.spark.sql.types.StructType

/**
 * What a stream operator does with the rows of a partition. It has no state of its own but what is
 * computed of it: rows that are needed later are in the partition's [[TimeBucketStore]].
 *
 * A machine is made by the driver and sent to the tasks; what a task makes of it, such as compiled
 * projections, is transient and lazy.
 */
trait StreamOperatorLogic extends Serializable {

  /** Rows that arrive are of one of them, by its number. */
  def sides: Seq[StreamSide]

  /** The rows that come out. */
  def output: StructType

  /** To how many partitions the rows of each side go. */
  def fanout: Seq[Fanout] = sides.map(_ => Fanout.One)

  /** Whether a call may have one row, and others of the micro-batch follow: in real-time mode. */
  def takesRowByRow: Boolean = false

  /** What is kept of them. */
  def state: StateLayout

  /** The rows that come out of a partition with a micro-batch. They are valid until the next one. */
  def run(batch: PartitionBatch): Iterator[InternalRow]
}

/**
 * What a micro-batch has for a partition, or in real-time mode a row of it. A partition sees each one in which
 * rows arrive, and each one that moves the watermark.
 *
 * @param chunks of each side, and then those of the copies of rows that another partition has as well
 * @param before the watermark of the micro-batch before, in microseconds: what is not later is late
 * @param now    what arrives after this call is later than that: the watermark; in real-time mode
 *               `before`, as the watermark makes rows late from the next micro-batch on only
 */
final class PartitionBatch(
    sides: Seq[StreamSide],
    chunks: IndexedSeq[Seq[Array[Byte]]],
    val before: Long,
    val now: Long,
    val store: TimeBucketStore,
    val counts: StreamCounts) {

  /** The side's rows that are not late. Each is valid until the next one. */
  def rows(side: Int): Iterator[InternalRow] = {
    // One of the partitions that a row goes to counts it.
    val firsts = inTime(side, chunks(side), () => counts.late += 1)
    firsts ++ inTime(side, chunks(side + sides.size), () => ())
  }

  private def inTime(
      side: Int,
      chunks: Seq[Array[Byte]],
      whenLate: () => Unit): Iterator[InternalRow] = {
    val time = sides(side).timeOrdinal
    TimeBucketStore.unpack(chunks, sides(side).types).filter { row =>
      val isLate = !row.isNullAt(time) && row.getLong(time) <= before
      if (isLate) whenLate()
      !isLate
    }
  }
}
