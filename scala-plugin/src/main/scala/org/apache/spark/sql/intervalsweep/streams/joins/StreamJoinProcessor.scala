// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.eventtime.{OperatorTimes, PairTime, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{
  PartitionProcessor, SortedRunStore, StateMetadata
}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode, TimerValues}

/**
 * Joins the rows of two streams, partition by partition.
 *
 * @param time the event time of the returned rows, for `pair_event_time` above the join
 */
final class StreamJoinProcessor(
    val spec: StreamJoinSpec,
    @transient val time: PairTime,
    override val partitions: Option[Int] = None)
    extends PartitionProcessor {
  @transient private var store: SortedRunStore = _
  @transient private lazy val readers = new JoinedRowProjector(spec)

  override def kind: String = if (spec.isCounted) "window_counts" else "stream_join"

  override def waitsForWatermark: Boolean = isByTime && Side.all.exists(spec.output.keepsUnmatched)

  override def timeAdvice: String =
    if (!isByTime) "call withWatermark on the rows that it returns"
    else if (!spec.output.hasPairs) OperatorTimes.SecondQuery
    else "select pair_event_time(a.ts, b.ts) AS at above the join (in Python " +
      "stream_join(..., time='at')), and use the column at"

  /** The watermark of the previous micro-batch, as the first call of this micro-batch found it. */
  @transient private var before: Option[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    super.init(outputMode, timeMode)
    store = new SortedRunStore(state.runs, spec.fields)
    before = None
  }

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val metadata = state.open(spec.state, Side.all.map(_ => Long.MinValue))
    if (before.isEmpty && isByTime) before = metadata.watermark.orElse(Some(0L))
    val watermark = Option.when(isByTime)(times.getCurrentWatermarkInMs())
    val chunks = StatefulOperatorPlan.chunks(rows, sides = 2)
    val batch =
      JoinBatch(partition.asInstanceOf[Int], chunks, metadata, before, watermark)
    val join = new SymmetricSweepJoin(spec, batch, store, readers)
    def save(next: StateMetadata): Unit = {
      watermark.foreach(state.moveTimer(metadata, _, fired))
      state.save(next)
    }
    OperatorOutput.objects(join.rows(save), join.counts.row, isSingle = spec.isRealTime)
  }

  private def isByTime: Boolean = spec.disorder.isEmpty

  /**
   * In real-time mode two partitions may see two rows in different orders. If each partition stores
   * one of the two rows, both partitions may find the pair, or neither. So a join whose rows go to
   * several partitions is refused.
   */
  override def resolved(number: Int, isRealTime: Boolean): StreamJoinProcessor = {
    if (isRealTime)
      if (!SparkShims.realTimeKeepsState) StreamErrors.noStateInRealTime("Joins of streams")
      else if (spec.spread.nonEmpty && number > 1) StreamErrors.spreadInRealTime()
      else if (!isByTime) StreamErrors.notInRealTime("A join in a window of rows")
    new StreamJoinProcessor(spec.copy(isRealTime = isRealTime), time, Some(number))
  }

  override def toString: String = spec.description
}
