// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.eventtime.{OperatorTimes, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.state.{
  PartitionProcessor, StateIdentity, StateLayout
}
import org.apache.spark.sql.types.DataType

/**
 * A stateful operator of a history of streams.
 *
 * @param types the types of the fields of a stored row, by its kind
 */
abstract class HistoryProcessor(types: Map[Side, Seq[DataType]], identity: StateIdentity)
    extends PartitionProcessor {
  override def waitsForWatermark: Boolean = true
  override def timeAdvice: String = OperatorTimes.EndOfPeriod

  @transient protected lazy val layout: StateLayout =
    StateLayout(types, identity, Map.empty)

  /** The processor for a number of state partitions. */
  protected def of(partitions: Int): HistoryProcessor

  final override def resolved(partitions: Int, isRealTime: Boolean): HistoryProcessor =
    if (isRealTime) StreamErrors.notInRealTime("A history of streams") else of(partitions)
}

/**
 * The time from one watermark to the next, in microseconds. All rows that start up to `now` have
 * arrived, so the history before `now` is certain, and it is known which rows go on at `now`.
 */
private[histories] final case class Slice(before: Long, now: Long) {
  def isEmpty: Boolean = before >= now
}

private[histories] object Slice {

  /** The slice between two watermarks, which are in milliseconds. */
  def ofMillis(before: Long, now: Long): Slice = Slice(before * 1000, now * 1000)
}
