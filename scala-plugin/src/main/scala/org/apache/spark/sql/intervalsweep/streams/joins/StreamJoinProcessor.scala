// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  PairTime, StreamErrors, StreamJoinErrors
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  SlotOperator, SlotProcessor, SlotRows
}
import org.apache.spark.sql.streaming._

/**
 * Joins the rows of two streams slot by slot; what `transformWithState` calls. A call has all rows of
 * a slot that are new in a micro-batch, and each of the state's partitions has one slot.
 *
 * @param time of the rows that it returns, for what is above it in a plan
 */
class StreamJoinProcessor(val spec: StreamJoinSpec, @transient val time: PairTime)
    extends StatefulProcessor[Any, Any, Any] with SlotProcessor {
  @transient private var state: SlotState = _
  @transient private lazy val pairs = new PairReaders(spec)

  /** The watermark of the micro-batch before, as the first call of this one has found it. */
  @transient private var before: Option[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    state = new SlotState(getHandle, spec.isCounted)
    before = None
  }

  override def handleInputRows(
      slot: Any,
      rows: Iterator[Any],
      times: TimerValues): Iterator[Any] = run(slot, rows, times, isTimer = false)

  override def handleExpiredTimer(
      slot: Any,
      times: TimerValues,
      timer: ExpiredTimerInfo): Iterator[Any] = run(slot, Iterator.empty, times, isTimer = true)

  private def run(
      slot: Any,
      rows: Iterator[Any],
      times: TimerValues,
      isTimer: Boolean): Iterator[InternalRow] = {
    val head = state.head(spec)
    if (before.isEmpty) before = head.watermark.orElse(Some(0L)).filter(_ => spec.disorder.isEmpty)
    val chunks = SlotOperator.chunks(rows, sides = 2)
    val number = slot.asInstanceOf[Int]
    val join =
      new SlotJoin(spec, number, chunks, head, before, watermark(times), isTimer, state, pairs)
    SlotRows.objects(join, join.counts, isSingle = spec.isRealTime)
  }

  /**
   * The same in real-time mode, if that is possible. There two slots may see two rows in different
   * orders: both of them, or neither, would find a pair of which each keeps one row.
   */
  private[intervalsweep] def inRealTime(slots: Int): StatefulProcessor[Any, Any, Any] =
    if (!SparkShims.realTimeKeepsState) StreamErrors.noStateInRealTime("Joins of streams")
    else if (spec.spread.nonEmpty && slots > 1) StreamJoinErrors.spreadInRealTime()
    else if (spec.disorder.isDefined) StreamErrors.notInRealTime("A join in a window of rows")
    else
      new StreamJoinProcessor(spec.copy(isRealTime = true), time)

  /** In milliseconds, if rows come by time. */
  private def watermark(times: TimerValues): Option[Long] =
    Option.when(spec.disorder.isEmpty)(times.getCurrentWatermarkInMs())

  override def toString: String = spec.description
}
