// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  PairTime, StreamErrors, StreamJoinErrors
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, PartitionProcessor, StatefulOperatorPlan
}
import org.apache.spark.sql.streaming._

/**
 * Joins the rows of two streams, partition by partition. `transformWithState` calls it once per
 * partition and micro-batch, with all new rows of the partition. Spark creates one per task.
 *
 * @param time the event time of the returned rows, for `pair_event_time` above the join
 */
class StreamJoinProcessor(val spec: StreamJoinSpec, @transient val time: PairTime)
    extends StatefulProcessor[Any, Any, Any] with PartitionProcessor {
  @transient private var state: JoinStateStore = _
  @transient private lazy val pairs = new JoinedRowProjector(spec)

  /** The watermark of the previous micro-batch, as the first call of this micro-batch found it. */
  @transient private var before: Option[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    state = new JoinStateStore(getHandle, spec.isCounted)
    before = None
  }

  override def handleInputRows(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues): Iterator[Any] = run(partition, rows, times, isTimer = false)

  override def handleExpiredTimer(
      partition: Any,
      times: TimerValues,
      timer: ExpiredTimerInfo): Iterator[Any] =
    run(partition, Iterator.empty, times, isTimer = true)

  private def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      isTimer: Boolean): Iterator[InternalRow] = {
    val head = state.head(spec)
    if (before.isEmpty) before = head.watermark.orElse(Some(0L)).filter(_ => spec.disorder.isEmpty)
    val chunks = StatefulOperatorPlan.chunks(rows, sides = 2)
    val number = partition.asInstanceOf[Int]
    val join =
      new SymmetricSweepJoin(
        spec,
        number,
        chunks,
        head,
        before,
        watermark(times),
        isTimer,
        state,
        pairs)
    OperatorOutput.objects(join, join.counts, isSingle = spec.isRealTime)
  }

  /**
   * The processor for real-time mode; fails if that mode is not possible. In real-time mode two
   * partitions may see two rows in different orders. If each partition stores one of the two rows,
   * both partitions may find the pair, or neither.
   */
  private[intervalsweep] def inRealTime(partitions: Int): StatefulProcessor[Any, Any, Any] =
    if (!SparkShims.realTimeKeepsState) StreamErrors.noStateInRealTime("Joins of streams")
    else if (spec.spread.nonEmpty && partitions > 1) StreamJoinErrors.spreadInRealTime()
    else if (spec.disorder.isDefined) StreamErrors.notInRealTime("A join in a window of rows")
    else
      new StreamJoinProcessor(spec.copy(isRealTime = true), time)

  /** The watermark in milliseconds, in a join by event time. */
  private def watermark(times: TimerValues): Option[Long] =
    Option.when(spec.disorder.isEmpty)(times.getCurrentWatermarkInMs())

  override def toString: String = spec.description
}
