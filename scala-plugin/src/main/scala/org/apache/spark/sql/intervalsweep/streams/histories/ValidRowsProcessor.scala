// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.eventtime.{OperatorTimes, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{
  PartitionProcessor, StateIdentity, StateLayout, TimeBuckets
}
import org.apache.spark.sql.streaming.TimerValues
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType}

/**
 * Stores the rows of all streams of a history while they are valid. In each micro-batch that moves
 * the watermark it emits the chunks with the rows that are valid between the two watermarks.
 *
 * @param inputs the number of streams
 */
final class ValidRowsProcessor(
    inputs: Int,
    identity: StateIdentity,
    override val partitions: Option[Int] = None)
    extends PartitionProcessor {
  override def kind: String = "valid_rows"
  override def waitsForWatermark: Boolean = true
  override def timeAdvice: String = OperatorTimes.EndOfPeriod

  @transient private lazy val layout =
    StateLayout(Map(LeftSide -> ValidRow.types.toSeq), identity, Map.empty)

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val store = new TimeBuckets(state, layout, ValidRowsProcessor.BucketMicros)
    val watermark = times.getCurrentWatermarkInMs()
    val slice = Slice(store.watermark * 1000, watermark * 1000)
    val counts = new HistoryCounts
    val stored = if (slice.isEmpty) Nil else chunksOf(store, slice)
    val added = add(StatefulOperatorPlan.chunks(rows, inputs).flatten, slice, store, counts)
    counts.expired += store.expire(LeftSide, slice.now)
    state.moveTimer(store.metadata, watermark, fired)
    store.save(watermark)
    counts.stored = store.numRows
    counts.open = store.of(LeftSide).filter(_.last == Long.MaxValue).map(_.rows).sum
    val emitted = (stored ++ added).iterator.map(InternalRow(_))
    OperatorOutput.objects(emitted, counts.row, isSingle = false)
  }

  /** The stored chunks that may have rows of the slice. */
  private def chunksOf(store: TimeBuckets, slice: Slice): Seq[Array[Byte]] =
    store.of(LeftSide).toSeq
      .filter(bucket => bucket.last > slice.before && bucket.minTime <= slice.now)
      .flatMap(state.runs.chunks)

  /** Stores the new rows; returns those of the slice as a chunk. */
  private def add(
      chunks: Seq[Array[Byte]],
      slice: Slice,
      store: TimeBuckets,
      counts: HistoryCounts): Option[Array[Byte]] = {
    val packer = new RowPacker(ValidRow.types.length)
    for (chunk <- chunks; row <- RowUnpacker.unsafeRows(chunk, ValidRow.types.length)) {
      val (start, end) = (row.getLong(ValidRow.Start), row.getLong(ValidRow.End))
      if (start <= slice.before) counts.late += 1
      else {
        if (!slice.isEmpty && start <= slice.now) packer.add(row)
        if (end > slice.now) store.add(LeftSide, end, row, start)
      }
    }
    Option.when(packer.numRows > 0)(packer.take())
  }

  override def resolved(number: Int, isRealTime: Boolean): ValidRowsProcessor =
    if (isRealTime) StreamErrors.notInRealTime("A history of streams")
    else new ValidRowsProcessor(inputs, identity, Some(number))

  override def toString: String = "ValidRows"
}

private object ValidRowsProcessor {

  /** The width of the time buckets that rows expire with. */
  val BucketMicros: Long = 60L * 1000 * 1000
}

/**
 * The time from one watermark to the next, in microseconds. All rows that start up to `now` have
 * arrived, so the history before `now` is certain, and it is known which rows go on at `now`.
 */
private[histories] final case class Slice(before: Long, now: Long) {
  def isEmpty: Boolean = before >= now
}

/**
 * A stored row:
 * {{{
 *   the number of its stream INT | start LONG | end LONG | the values as a row BINARY
 * }}}
 */
private[histories] object ValidRow {
  val Input = 0
  val Start = 1
  val End = 2
  val Values = 3
  val types: Array[DataType] = Array(IntegerType, LongType, LongType, BinaryType)

  /** Whether a row of a stream is valid in a slice or at its end. */
  def isIn(row: UnsafeRow, input: Int, slice: Slice): Boolean =
    row.getInt(Input) == input && row.getLong(Start) <= slice.now &&
      row.getLong(End) > slice.before
}
