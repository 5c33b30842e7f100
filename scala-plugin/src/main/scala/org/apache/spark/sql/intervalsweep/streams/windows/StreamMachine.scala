// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.streams.partitioning.{Fanout, StreamSide}
import org.apache.spark.sql.intervalsweep.streams.state.{SliceStore, StateLayout}
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/**
 * What a stream operator does with the rows of a slot. It has no state of its own but what is
 * computed of it: rows that are needed later are in the slot's [[SliceStore]].
 *
 * A machine is made by the driver and sent to the tasks; what a task makes of it, such as compiled
 * projections, is transient and lazy.
 */
trait StreamMachine extends Serializable {

  /** Rows that arrive are of one of them, by its number. */
  def sides: Seq[StreamSide]

  /** The rows that come out. */
  def output: StructType

  /** To how many slots the rows of each side go. */
  def fanout: Seq[Fanout] = sides.map(_ => Fanout.One)

  /** Whether a call may have one row, and others of the micro-batch follow: in real-time mode. */
  def takesRowByRow: Boolean = false

  /** What is kept of them. */
  def state: StateLayout

  /** The rows that come out of a slot with a micro-batch. They are valid until the next one. */
  def run(batch: SlotBatch): Iterator[InternalRow]
}

/**
 * What a micro-batch has for a slot, or in real-time mode a row of it. A slot sees each one in which
 * rows arrive, and each one that moves the watermark.
 *
 * @param chunks of each side, and then those of the copies of rows that another slot has as well
 * @param before the watermark of the micro-batch before, in microseconds: what is not later is late
 * @param now    what arrives after this call is later than that: the watermark; in real-time mode
 *               `before`, as the watermark makes rows late from the next micro-batch on only
 */
final class SlotBatch(
    sides: Seq[StreamSide],
    chunks: IndexedSeq[Seq[Array[Byte]]],
    val before: Long,
    val now: Long,
    val store: SliceStore,
    val counts: StreamCounts) {

  /** The side's rows that are not late. Each is valid until the next one. */
  def rows(side: Int): Iterator[InternalRow] = {
    // One of the slots that a row goes to counts it.
    val firsts = inTime(side, chunks(side), () => counts.late += 1)
    firsts ++ inTime(side, chunks(side + sides.size), () => ())
  }

  private def inTime(
      side: Int,
      chunks: Seq[Array[Byte]],
      whenLate: () => Unit): Iterator[InternalRow] = {
    val time = sides(side).timeOrdinal
    SliceStore.unpack(chunks, sides(side).types).filter { row =>
      val isLate = !row.isNullAt(time) && row.getLong(time) <= before
      if (isLate) whenLate()
      !isLate
    }
  }
}

/** What happened in a slot with a micro-batch, and what it keeps then. */
final class StreamCounts {
  var late = 0L
  var expired = 0L
  var revisions = 0L

  /** Stored probe rows that were read. */
  var read = 0L
}

object StreamCounts {

  /** Under these names they are in the progress of the query. */
  val schema: StructType = {
    val names =
      Seq("lateRows", "expiredRows", "revisions", "storedRows", "storedSlices", "readRows")
    StructType(names.map(StructField(_, LongType, nullable = false)))
  }

  /** @param store whose size is told, if it is */
  private[streams] def row(counts: StreamCounts, store: Option[SliceStore]): InternalRow =
    InternalRow(
      counts.late,
      counts.expired,
      counts.revisions,
      store.fold(0L)(_.numRows),
      store.fold(0L)(_.numSlices.toLong),
      counts.read)
}
