// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{StateIdentity, StateMetadata, StoredRun}
import org.apache.spark.sql.intervalsweep.temporal.fragments.FragmentStep
import org.apache.spark.sql.streaming.TimerValues

/**
 * Joins the pieces of a history, slice after slice, and emits each row when its period has ended.
 * It stores the rows that go on at the watermark.
 *
 * @param values    the number of columns without the count and the period
 * @param isCounted whether rows have a count before the period, which is the sum of their pieces
 * @param maxLength the fragments in which long rows are emitted
 */
final class OpenResultsProcessor(
    values: Int,
    isCounted: Boolean,
    maxLength: Option[FragmentStep],
    identity: StateIdentity,
    override val partitions: Option[Int] = None)
    extends HistoryProcessor(Map(LeftSide -> OpenResult.types.toSeq), identity) {
  override def kind: String = "open_results"

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val metadata = state.open(layout, Nil)
    val watermark = times.getCurrentWatermarkInMs()
    val slice = Slice.ofMillis(metadata.watermark.getOrElse(0L), watermark)
    val counts = new HistoryCounts
    val (written, runs) =
      if (slice.isEmpty) (Nil, metadata.runs)
      else {
        val open = new OpenResults(slice, maxLength)
        stored(metadata).foreach(open.addOpen)
        StatefulOperatorPlan.chunks(rows, sides = 1).flatten.iterator.flatMap(unpacked)
          .foreach(open.addPiece)
        val written = open.written()
        (written, if (open.changed) saved(open, metadata) else metadata.runs)
      }
    state.moveTimer(metadata, watermark, fired)
    state.save(metadata.copy(watermark = Some(watermark), runs = runs))
    counts.expired = written.count(_.isLast).toLong
    counts.stored = runs.map(_.rows).sum
    val row = new PeriodRow(values, isCounted)
    val emitted = written.iterator.flatMap(part =>
      part.periods(maxLength).map { case (start, end) =>
        row(part.values, start, end, part.row.count)
      })
    OperatorOutput.objects(emitted, counts.row, isSingle = false)
  }

  private def unpacked(chunk: Array[Byte]): Iterator[UnsafeRow] =
    RowUnpacker.unsafeRows(chunk, OpenResult.types.length)

  private def stored(metadata: StateMetadata): Iterator[UnsafeRow] =
    metadata.runs.iterator.flatMap(state.runs.chunks).flatMap(unpacked)

  /** Replaces the stored rows. */
  private def saved(open: OpenResults, metadata: StateMetadata): Seq[StoredRun] = {
    metadata.runs.foreach(state.runs.remove)
    val packer = new RowPacker(OpenResult.types.length)
    open.remaining.foreach(packer.add)
    if (packer.numRows == 0) Nil
    else {
      val run = state.runs.create(LeftSide, Long.MaxValue, Long.MaxValue)
        .copy(rows = packer.numRows.toLong, bytes = packer.size)
      Seq(state.runs.add(run, packer.take()))
    }
  }

  override protected def of(number: Int): OpenResultsProcessor =
    new OpenResultsProcessor(values, isCounted, maxLength, identity, Some(number))

  override def toString: String = "OpenResults"
}
