// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{StateIdentity, TimeBuckets}
import org.apache.spark.sql.streaming.TimerValues
import org.apache.spark.sql.types.DataType

/**
 * Stores the rows of all streams of a history while they are valid. In each micro-batch that moves
 * the watermark it emits the chunks with the rows that are valid between the two watermarks.
 *
 * @param inputs the number of streams
 * @param orders the streams of changes, and the types of the columns that order them at an instant
 */
final class ValidRowsProcessor(
    inputs: Int,
    orders: Map[Int, Seq[DataType]],
    identity: StateIdentity,
    override val partitions: Option[Int] = None)
    extends HistoryProcessor(
      Map(LeftSide -> ValidRow.types.toSeq, RightSide -> Change.types.toSeq),
      identity) {
  override def kind: String = "valid_rows"

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val store = new TimeBuckets(state, layout, ValidRowsProcessor.BucketMicros)
    val watermark = times.getCurrentWatermarkInMs()
    val slice = Slice.ofMillis(store.watermark, watermark)
    val counts = new HistoryCounts
    val stored = if (slice.isEmpty) Nil else chunksOf(store, slice)
    val (changes, periods) = StatefulOperatorPlan.chunks(rows, inputs).zipWithIndex
      .partition { case (_, input) => orders.contains(input) }
    val added = add(periods.flatMap(_._1), slice, store, counts) ++
      addChanges(changes.flatMap(_._1), slice, store, counts)
    counts.expired += store.expire(LeftSide, slice.now)
    state.moveTimer(store.metadata, watermark, fired)
    store.save(watermark)
    counts.stored = store.numRows
    counts.open =
      Side.all.flatMap(store.of).filter(_.last == Long.MaxValue).map(_.rows).sum
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

  /** Stores the new changes; returns those that are valid in the slice as a chunk. */
  private def addChanges(
      chunks: Seq[Array[Byte]],
      slice: Slice,
      store: TimeBuckets,
      counts: HistoryCounts): Option[Array[Byte]] = {
    val (late, added) =
      chunks.flatMap(Change.rows).partition(_.getLong(ValidRow.Start) <= slice.before)
    counts.late += late.size
    if (slice.isEmpty) {
      added.foreach(save(store, _))
      None
    } else {
      val stored = store.of(RightSide).toSeq
      val log = new StoredChanges(slice, orders)
      stored.flatMap(state.runs.chunks).flatMap(Change.rows).foreach(log.add)
      added.foreach(log.add)
      val packer = new RowPacker(ValidRow.types.length)
      log.valid.foreach(packer.add)
      val kept = log.kept
      if (kept.size < log.size / 2) {
        counts.expired += log.size - kept.size
        stored.foreach(store.drop)
        kept.foreach(save(store, _))
      } else added.foreach(save(store, _))
      Option.when(packer.numRows > 0)(packer.take())
    }
  }

  private def save(store: TimeBuckets, change: UnsafeRow): Unit =
    store.add(RightSide, Long.MaxValue, change, change.getLong(ValidRow.Start))

  override protected def of(number: Int): ValidRowsProcessor =
    new ValidRowsProcessor(inputs, orders, identity, Some(number))

  override def toString: String = "ValidRows"
}

private object ValidRowsProcessor {

  /** The width of the time buckets that rows expire with. */
  val BucketMicros: Long = 60L * 1000 * 1000
}
