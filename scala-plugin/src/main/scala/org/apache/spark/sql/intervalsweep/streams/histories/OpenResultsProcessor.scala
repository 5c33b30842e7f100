// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.eventtime.{OperatorTimes, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{
  PartitionProcessor, StateIdentity, StateLayout, StateMetadata, StoredRun
}
import org.apache.spark.sql.streaming.TimerValues

/**
 * Joins the pieces of a history, slice after slice, and emits each row when its period has ended.
 * It stores the rows that go on at the watermark.
 *
 * @param values the number of columns without the period
 */
final class OpenResultsProcessor(
    values: Int,
    identity: StateIdentity,
    override val partitions: Option[Int] = None)
    extends PartitionProcessor {
  override def kind: String = "open_results"
  override def waitsForWatermark: Boolean = true
  override def timeAdvice: String = OperatorTimes.EndOfPeriod

  @transient private lazy val layout =
    StateLayout(Map(LeftSide -> OpenResult.types.toSeq), identity, Map.empty)

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val metadata = state.open(layout, Nil)
    val watermark = times.getCurrentWatermarkInMs()
    val slice = Slice(metadata.watermark.getOrElse(0L) * 1000, watermark * 1000)
    val counts = new HistoryCounts
    val (ended, runs) =
      if (slice.isEmpty) (Nil, metadata.runs)
      else {
        val open = new OpenResults(slice)
        stored(metadata).foreach(open.addOpen)
        StatefulOperatorPlan.chunks(rows, sides = 1).flatten.iterator.flatMap(unpacked)
          .foreach(open.addPiece)
        val ended = open.ended()
        (ended, if (open.changed) saved(open, metadata) else metadata.runs)
      }
    state.moveTimer(metadata, watermark, fired)
    state.save(metadata.copy(watermark = Some(watermark), runs = runs))
    counts.expired = ended.size.toLong
    counts.stored = runs.map(_.rows).sum
    OperatorOutput.objects(ended.iterator.map(typed), counts.row, isSingle = false)
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
      val run = StoredRun(
        LeftSide,
        StoredRun.newId(),
        packer.numRows.toLong,
        packer.size,
        Long.MaxValue,
        Long.MaxValue)
      Seq(state.runs.add(run, packer.take()))
    }
  }

  @transient private lazy val row = new UnsafeRow(values)
  @transient private lazy val period = new GenericInternalRow(2)
  @transient private lazy val joined = new JoinedRow

  private def typed(result: EndedResult): InternalRow = {
    row.pointTo(result.values, result.values.length)
    period.update(0, result.start)
    period.update(1, result.end)
    joined(row, period)
  }

  override def resolved(number: Int, isRealTime: Boolean): OpenResultsProcessor =
    if (isRealTime) StreamErrors.notInRealTime("A history of streams")
    else new OpenResultsProcessor(values, identity, Some(number))

  override def toString: String = "OpenResults"
}
