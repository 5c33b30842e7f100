// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.streams.eventtime.{OperatorTimes, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{
  PartitionProcessor, SortedRunStore, StateMetadata
}
import org.apache.spark.sql.streaming.TimerValues

/** Joins intervals from rows that report starts and ends, partition by partition. */
final class OngoingJoinProcessor(
    val spec: OngoingJoinSpec,
    override val partitions: Option[Int] = None)
    extends PartitionProcessor {
  override def kind: String = "ongoing_join"
  override def waitsForWatermark: Boolean = true
  override def timeAdvice: String = OperatorTimes.SecondQuery

  @transient private lazy val pairs = new OngoingPairs(spec)

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val metadata = state.open(spec.state, Seq(0L))
    val watermark = times.getCurrentWatermarkInMs()
    val chunks = StatefulOperatorPlan.chunks(rows, sides = 2)
    val store = new SortedRunStore(state.runs, spec.fields)
    val join = new OngoingJoin(spec, chunks, metadata, watermark, store, pairs)
    def save(next: StateMetadata): Unit = {
      state.moveTimer(metadata, watermark, fired)
      state.save(next)
    }
    OperatorOutput.objects(join.rows(save), join.counts.row, isSingle = false)
  }

  override def resolved(number: Int, isRealTime: Boolean): OngoingJoinProcessor =
    if (isRealTime) StreamErrors.notInRealTime("A join of intervals that are still open")
    else new OngoingJoinProcessor(spec, Some(number))

  override def toString: String = spec.description
}
