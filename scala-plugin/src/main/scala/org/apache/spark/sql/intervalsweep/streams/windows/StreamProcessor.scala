// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, PartitionProcessor, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{TimeBucketStore, WindowStateMetadata}
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo, OutputMode, StatefulProcessor, TimeMode, TimerValues
}

/**
 * Runs a [[StreamOperatorLogic]] on Spark's own state. Spark groups rows by partition, so that a call has all
 * rows of a partition in a micro-batch: a sweep like that of a batch.
 *
 * {{{
 *   rows  --PackSlots-->  (partition, side, chunk)  --Spark's shuffle-->  TransformWithState, by partition
 *                                                                      chunks in, rows out
 * }}}
 * A timer that expires as soon as the watermark moves calls the partitions that no rows come to.
 *
 * @param isRealTime whether a call has a row, and others of its micro-batch may follow
 */
final class StreamProcessor(machine: StreamOperatorLogic, isRealTime: Boolean = false)
    extends StatefulProcessor[Any, Any, Any] with PartitionProcessor {
  @transient private var variables: TimeBucketStore.Variables = _

  /** The state of the partition that the calls of a task are about. */
  @transient private var opened: OpenedPartition = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    variables = new TimeBucketStore.Variables(getHandle)
    opened = null
  }

  /** The same in real-time mode, if that is possible. There a call has a row. */
  private[intervalsweep] def inRealTime: StatefulProcessor[Any, Any, Any] =
    if (!SparkShims.realTimeKeepsState) StreamErrors.noStateInRealTime("Window unions of streams")
    else if (!machine.takesRowByRow) StreamErrors.finalInRealTime()
    else new StreamProcessor(machine, isRealTime = true)

  /** @param rows of the side's number and a chunk */
  override def handleInputRows(
      partition: Any,
      rows: Iterator[Any],
      timers: TimerValues): Iterator[Any] =
    run(partition, rows, timers, fired = None)

  override def handleExpiredTimer(
      partition: Any,
      timers: TimerValues,
      timer: ExpiredTimerInfo): Iterator[Any] =
    run(partition, Iterator.empty, timers, fired = Some(timer.getExpiryTimeInMs()))

  private def run(
      partition: Any,
      rows: Iterator[Any],
      timers: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val isFirst = !isRealTime || opened == null || opened.partition != partition
    if (isFirst) opened = new OpenedPartition(partition, variables.open(machine.state))
    val store = opened.store
    val watermark = timers.getCurrentWatermarkInMs()
    val batch = new PartitionBatch(
      machine.sides,
      StatefulOperatorPlan.chunks(rows, 2 * machine.sides.size),
      StreamProcessor.micros(opened.before),
      StreamProcessor.micros(if (isRealTime) opened.before else watermark),
      store,
      new StreamCounts)
    val result = machine.run(batch)
    val timer = watermark + 1
    if (store.head.timer != timer) {
      // Spark deletes the one that has fired.
      if (store.head.timer != WindowStateMetadata.NoTimer && !fired.contains(store.head.timer))
        getHandle.deleteTimer(store.head.timer)
      getHandle.registerTimer(timer)
    }
    store.save(watermark, timer)
    // The counts of all calls are added up.
    val counts = StreamCounts.row(batch.counts, Option.when(isFirst)(store))
    OperatorOutput.objects(result, counts, isSingle = isRealTime)
  }

  override def toString: String = machine.toString
}

/** A partition, as the first call of a micro-batch has found it. */
private final class OpenedPartition(val partition: Any, val store: TimeBucketStore) {

  /** The watermark of the micro-batch before. */
  val before: Long = store.head.watermark
}

object StreamProcessor {

  private def micros(millis: Long): Long = Math.multiplyExact(millis, 1000L)
}
