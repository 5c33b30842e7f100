// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.streams.eventtime.OperatorTimes
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo, OutputMode, StatefulProcessor, TimeMode, TimerValues
}

/**
 * A processor of Spark's `TransformWithState`, which calls it once per state partition and
 * micro-batch, with all new rows of the partition. Spark creates one per task.
 */
abstract class PartitionProcessor extends StatefulProcessor[Any, Any, Any] with OperatorTimes {

  /** The kind of the operator, for the names of its metrics, such as `stream_join`. */
  def kind: String

  /** The number of state partitions; None until a micro-batch is planned. */
  def partitions: Option[Int]

  /**
   * The processor for a number of state partitions.
   *
   * @param isRealTime whether the query runs in real-time mode, where a call has one row, and more
   *                   rows of its micro-batch may follow. Fails if that is not possible
   */
  def resolved(partitions: Int, isRealTime: Boolean): PartitionProcessor

  @transient protected var state: PartitionState = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    state = new PartitionState(getHandle, partitions.get)

  /**
   * Processes the new rows of a partition.
   *
   * @param rows  pairs of chunk number and chunk
   * @param fired the time of the timer that led to this call, if one did
   */
  protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow]

  final override def handleInputRows(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues): Iterator[Any] = run(partition, rows, times, fired = None)

  final override def handleExpiredTimer(
      partition: Any,
      times: TimerValues,
      timer: ExpiredTimerInfo): Iterator[Any] =
    run(partition, Iterator.empty, times, fired = Some(timer.getExpiryTimeInMs()))
}
