// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.streaming._

/**
 * Joins the rows of two streams slot by slot; what `transformWithState` calls. A call has all rows of
 * a slot that are new in a micro-batch.
 */
class StreamJoinProcessor(val spec: StreamJoinSpec)
    extends StatefulProcessor[Int, Array[Byte], InternalRow] with SlotProcessor {
  @transient private var state: SlotState = _
  @transient private var pairs: PairReaders = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    state = new SlotState(getHandle)

  override def handleInputRows(
      slot: Int,
      rows: Iterator[Array[Byte]],
      times: TimerValues): Iterator[InternalRow] = {
    if (pairs == null) pairs = new PairReaders(spec)
    new SlotJoin(spec, state, pairs, watermark(times), isTimer = false, rows)
  }

  override def handleExpiredTimer(
      slot: Int,
      times: TimerValues,
      timer: ExpiredTimerInfo): Iterator[InternalRow] = {
    if (pairs == null) pairs = new PairReaders(spec)
    new SlotJoin(spec, state, pairs, watermark(times), isTimer = true, Iterator.empty)
  }

  /**
   * The same in real-time mode, if that is possible. There two slots may see two rows in different
   * orders: both of them, or neither, would find a pair of which each keeps one row.
   */
  private[streams] def inRealTime(slots: Int): StatefulProcessor[Any, Any, Any] =
    if (!RealTime.keepsState) StreamErrors.noStateInRealTime("Joins of streams")
    else if (spec.isSpread && slots > 1) StreamJoinErrors.spreadInRealTime()
    else if (spec.disorder.isDefined) StreamErrors.notInRealTime("A join in a window of rows")
    else
      new StreamJoinProcessor(spec.copy(isRealTime = true))
        .asInstanceOf[StatefulProcessor[Any, Any, Any]]

  /** In milliseconds, if rows come by time. */
  private def watermark(times: TimerValues): Option[Long] =
    Option.when(spec.disorder.isEmpty)(times.getCurrentWatermarkInMs())

  override def toString: String = spec.description
}
