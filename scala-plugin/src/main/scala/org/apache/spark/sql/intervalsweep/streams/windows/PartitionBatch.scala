// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide
import org.apache.spark.sql.intervalsweep.streams.state.TimeBuckets
import org.apache.spark.sql.types.{LongType, StructField, StructType}

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

/** The counts of a partition for a micro-batch. */
final class StreamCounts {
  var late = 0L
  var expired = 0L
  var revisions = 0L

  /** The number of stored rows outside of time buckets. */
  var kept = 0L

  /** The number of stored probe rows that were read. */
  var read = 0L
}

object StreamCounts {

  /** The names of the counts in the query's progress. */
  val schema: StructType = {
    val names =
      Seq("lateRows", "expiredRows", "revisions", "storedRows", "storedBuckets", "readRows")
    StructType(names.map(StructField(_, LongType, nullable = false)))
  }

  /** @param store the store whose size is reported, if the row reports one */
  private[streams] def row(counts: StreamCounts, store: Option[TimeBuckets]): InternalRow =
    InternalRow(
      counts.late,
      counts.expired,
      counts.revisions,
      store.fold(0L)(_.numRows + counts.kept),
      store.fold(0L)(_.numBuckets.toLong),
      counts.read)
}
