// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo, OutputMode, StatefulProcessor, TimeMode, TimerValues
}
import org.apache.spark.sql.types.{StructField, StructType}

/**
 * Runs a [[StreamMachine]] on Spark's own state. Spark groups rows by slot, so that a call has all
 * rows of a slot in a micro-batch: a sweep like that of a batch.
 *
 * {{{
 *   rows  --PackSlots-->  (slot, side, chunk)  --Spark's shuffle-->  TransformWithState, by slot
 *                                                                      chunks in, rows out
 * }}}
 * A timer that expires as soon as the watermark moves calls the slots that no rows come to.
 *
 * @param isRealTime whether a call has a row, and others of its micro-batch may follow
 */
final class StreamProcessor(machine: StreamMachine, isRealTime: Boolean = false)
    extends StatefulProcessor[Any, Any, Any] with SlotProcessor {
  @transient private var variables: SliceStore.Variables = _

  /** The state of the slot that the calls of a task are about. */
  @transient private var opened: OpenedSlot = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    variables = new SliceStore.Variables(getHandle)
    opened = null
  }

  /** The same in real-time mode, if that is possible. There a call has a row. */
  private[streams] def inRealTime: StatefulProcessor[Any, Any, Any] =
    if (!RealTime.keepsState) StreamErrors.noStateInRealTime("Window unions of streams")
    else if (!machine.takesRowByRow) StreamErrors.finalInRealTime()
    else new StreamProcessor(machine, isRealTime = true)

  /** @param rows of the side's number and a chunk */
  override def handleInputRows(
      slot: Any,
      rows: Iterator[Any],
      timers: TimerValues): Iterator[Any] = {
    val chunks = Array.fill(machine.sides.size)(Vector.newBuilder[Array[Byte]])
    rows.foreach {
      case row: InternalRow => chunks(row.getInt(0)) += row.getBinary(1)
      case other => throw new IllegalStateException(s"not a chunk: $other")
    }
    run(slot, chunks.map(_.result()), timers, fired = None)
  }

  override def handleExpiredTimer(
      slot: Any,
      timers: TimerValues,
      timer: ExpiredTimerInfo): Iterator[Any] =
    run(
      slot,
      Array.fill(machine.sides.size)(Nil),
      timers,
      fired = Some(timer.getExpiryTimeInMs()))

  private def run(
      slot: Any,
      chunks: Array[Seq[Array[Byte]]],
      timers: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val isFirst = !isRealTime || opened == null || opened.slot != slot
    if (isFirst) opened = new OpenedSlot(slot, variables.open(machine.state))
    val store = opened.store
    val watermark = timers.getCurrentWatermarkInMs()
    val batch = new SlotBatch(
      machine.sides,
      chunks,
      StreamProcessor.micros(opened.before),
      StreamProcessor.micros(if (isRealTime) opened.before else watermark),
      store,
      new StreamCounts)
    val result = machine.run(batch)
    val timer = watermark + 1
    if (store.head.timer != timer) {
      // Spark deletes the one that has fired.
      if (store.head.timer != SliceHead.NoTimer && !fired.contains(store.head.timer))
        getHandle.deleteTimer(store.head.timer)
      getHandle.registerTimer(timer)
    }
    store.save(watermark, timer)
    // The counts of all calls are added up.
    rows(result, StreamCounts.row(batch.counts, Option.when(isFirst)(store)))
  }

  /** The machine's rows, and then one that has nothing but the counts. */
  private def rows(result: Iterator[InternalRow], counts: InternalRow): Iterator[InternalRow] = {
    val row = new JoinedRow
    val none = new GenericInternalRow(1)
    val nothing = new GenericInternalRow(machine.output.size)
    result.map(row(_, none)) ++ Iterator.single(new JoinedRow(nothing, InternalRow(counts)))
  }

  override def toString: String = machine.toString
}

/** A slot, as the first call of a micro-batch has found it. */
private final class OpenedSlot(val slot: Any, val store: SliceStore) {

  /** The watermark of the micro-batch before. */
  val before: Long = store.head.watermark
}

object StreamProcessor {

  /** What comes out: the machine's columns, or the counts of a slot in a row of their own. */
  def output(machine: StreamMachine): StructType =
    StructType(
      machine.output.map(_.copy(nullable = true)) :+
        StructField("counts", StreamCounts.schema, nullable = true))

  private def micros(millis: Long): Long = Math.multiplyExact(millis, 1000L)
}
