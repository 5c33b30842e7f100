// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{PartitionProcessor, TimeBuckets}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode, TimerValues}

/**
 * Runs a window union on Spark's own state. Spark groups rows by state partition, so a call has all
 * rows of a partition in a micro-batch and can sweep them like a batch.
 *
 * {{{
 *   rows --PartitionedBatches--> (partition, side, chunk) --Spark's shuffle--> TransformWithState,
 *                                                               by partition: chunks in, rows out
 * }}}
 *
 * @param isRealTime whether a call has one row, and more rows of its micro-batch may follow
 */
class WindowUnionProcessor(
    spec: WindowUnionSpec,
    override val partitions: Option[Int] = None,
    isRealTime: Boolean = false)
    extends PartitionProcessor {

  override def kind: String = "window_union"

  /** Whether a base row without a row in its window is not returned. */
  def dropsUnmatched: Boolean = spec.matched.exists(!_.isOuter)

  override def waitsForWatermark: Boolean = !spec.isEager

  override def timeAdvice: String =
    if (spec.isEager)
      "do not select window_revision() and window_is_final(), so that each row is " +
        "emitted once, and select window_event_time()"
    else "select window_event_time() AS at in the lateral subquery, and use the column at"

  @transient private lazy val union: WindowUnionRun = newRun()

  protected def newRun(): WindowUnionRun =
    if (spec.isEager) new EagerWindows(spec) else new FinalWindows(spec)

  /** Further numbers in the state of a partition, before the first micro-batch. */
  protected def numbers: Seq[Long] = Nil

  /** The partition of the last call. */
  @transient private var opened: OpenedPartition = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    super.init(outputMode, timeMode)
    opened = null
  }

  /** Final rows are known only when a micro-batch ends, so only revisions can go row by row. */
  override def resolved(number: Int, isRealTime: Boolean): WindowUnionProcessor = {
    if (isRealTime)
      if (!SparkShims.realTimeKeepsState) StreamErrors.noStateInRealTime("Window unions of streams")
      else if (!spec.isEager) StreamErrors.finalInRealTime()
    new WindowUnionProcessor(spec, Some(number), isRealTime)
  }

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val isFirst = !isRealTime || opened == null || opened.partition != partition
    if (isFirst)
      opened = new OpenedPartition(
        partition,
        new TimeBuckets(state, spec.state, spec.bucketMicros, numbers))
    val store = opened.store
    val watermark = times.getCurrentWatermarkInMs()
    val batch = new PartitionBatch(
      spec.sides,
      StatefulOperatorPlan.chunks(rows, 2 * spec.sides.size),
      WindowUnionProcessor.micros(opened.before),
      WindowUnionProcessor.micros(if (isRealTime) opened.before else watermark),
      store,
      new StreamCounts)
    val result = union.run(batch)
    state.moveTimer(store.metadata, watermark, fired)
    store.save(watermark)
    // Spark adds up the counts of all calls, so only the first call reports the size of the store.
    val counts = StreamCounts.row(batch.counts, Option.when(isFirst)(store))
    OperatorOutput.objects(result, counts, isSingle = isRealTime)
  }

  override def toString: String = spec.toString
}

/** A partition in the state that the first call of a micro-batch found. */
private final class OpenedPartition(val partition: Any, val store: TimeBuckets) {

  /** The watermark of the previous micro-batch, in milliseconds. */
  val before: Long = store.watermark
}

private object WindowUnionProcessor {
  def micros(millis: Long): Long = Math.multiplyExact(millis, 1000L)
}
