// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, JoinedRow, Predicate, UnsafeRow}
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, PartitionProcessor, StatefulOperatorPlan
}
import org.apache.spark.sql.streaming._

/** Joins intervals from rows that report starts and ends, partition by partition. */
class OngoingJoinProcessor(val spec: OngoingJoinSpec)
    extends StatefulProcessor[Any, Any, Any] with PartitionProcessor {
  @transient private var stored: ValueState[Array[Byte]] = _
  @transient private lazy val pairs = new OngoingPairs(spec)

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    stored = getHandle.getValueState[Array[Byte]]("intervals", Encoders.BINARY, TTLConfig.NONE)

  override def handleInputRows(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues): Iterator[Any] = run(rows, times, fired = None)

  override def handleExpiredTimer(
      partition: Any,
      times: TimerValues,
      timer: ExpiredTimerInfo): Iterator[Any] =
    run(Iterator.empty, times, fired = Some(timer.getExpiryTimeInMs()))

  private def run(
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val watermark = times.getCurrentWatermarkInMs()
    val intervals = new OngoingIntervals(spec, Option(stored.get()))
    for {
      (chunks, side) <- StatefulOperatorPlan.chunks(rows, sides = 2).zipWithIndex
      row <- chunks.iterator.flatMap(RowUnpacker.unsafeRows(_, spec.fields(side).size))
    } intervals.add(side, row)
    val found = intervals.decide(watermark * 1000, pairs.holds)
    if (watermark != intervals.before / 1000 || intervals.isNew) {
      // Spark deletes a timer that has fired.
      val old = intervals.before / 1000 + 1
      if (!intervals.isNew && !fired.contains(old)) getHandle.deleteTimer(old)
      getHandle.registerTimer(watermark + 1)
    }
    stored.update(intervals.kept(watermark * 1000))
    OperatorOutput.objects(found.iterator.map(pairs.of), intervals.counts.row, isSingle = false)
  }

  override def toString: String = spec.description
}

/** Builds the returned rows from pairs of intervals. A task creates it once. */
final class OngoingPairs(spec: OngoingJoinSpec) {
  private val left = new UnsafeRow(spec.left.size)
  private val right = new UnsafeRow(spec.right.size)
  private val pair = new JoinedRow
  private val residual: Option[BasePredicate] =
    spec.residual.map(Predicate.create(_, spec.left ++ spec.right))
  residual.foreach(_.initialize(0))

  private def joined(l: OngoingInterval, r: OngoingInterval): InternalRow = {
    left.pointTo(l.bytes, l.bytes.length)
    right.pointTo(r.bytes, r.bytes.length)
    pair(left, right)
  }

  def holds(l: OngoingInterval, r: OngoingInterval): Boolean = residual.forall(_.eval(joined(l, r)))

  def of(both: (OngoingInterval, OngoingInterval)): InternalRow = joined(both._1, both._2)
}
