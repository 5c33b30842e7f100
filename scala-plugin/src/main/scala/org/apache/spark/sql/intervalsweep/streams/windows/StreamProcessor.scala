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
 * Runs a [[StreamOperatorLogic]] on Spark's own state. Spark groups rows by state partition, so a
 * call has all rows of a partition in a micro-batch and can sweep them like a batch.
 *
 * {{{
 *   rows --PartitionedBatches--> (partition, side, chunk) --Spark's shuffle--> TransformWithState,
 *                                                               by partition: chunks in, rows out
 * }}}
 * A timer fires as soon as the watermark moves. It calls the partitions without new rows.
 *
 * @param isRealTime whether a call has one row, and more rows of its micro-batch may follow
 */
final class StreamProcessor(machine: StreamOperatorLogic, isRealTime: Boolean = false)
    extends StatefulProcessor[Any, Any, Any] with PartitionProcessor {
  @transient private var variables: TimeBucketStore.Variables = _

  /** The partition of the last call. */
  @transient private var opened: OpenedPartition = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    variables = new TimeBucketStore.Variables(getHandle)
    opened = null
  }

  /** The processor for real-time mode; fails if that mode is not possible. */
  private[intervalsweep] def inRealTime: StatefulProcessor[Any, Any, Any] =
    if (!SparkShims.realTimeKeepsState) StreamErrors.noStateInRealTime("Window unions of streams")
    else if (!machine.takesRowByRow) StreamErrors.finalInRealTime()
    else new StreamProcessor(machine, isRealTime = true)

  /** @param rows pairs of chunk number and chunk */
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
      // Spark deletes a timer that has fired.
      if (store.head.timer != WindowStateMetadata.NoTimer && !fired.contains(store.head.timer))
        getHandle.deleteTimer(store.head.timer)
      getHandle.registerTimer(timer)
    }
    store.save(watermark, timer)
    // Spark adds up the counts of all calls, so only the first call reports the size of the store.
    val counts = StreamCounts.row(batch.counts, Option.when(isFirst)(store))
    OperatorOutput.objects(result, counts, isSingle = isRealTime)
  }

  override def toString: String = machine.toString
}

/** A partition in the state that the first call of a micro-batch found. */
private final class OpenedPartition(val partition: Any, val store: TimeBucketStore) {

  /** The watermark of the previous micro-batch, in milliseconds. */
  val before: Long = store.head.watermark
}

object StreamProcessor {

  private def micros(millis: Long): Long = Math.multiplyExact(millis, 1000L)
}
