// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BasePredicate, GenericInternalRow, JoinedRow, Predicate, UnsafeRow
}
import org.apache.spark.sql.streaming._

/** Joins starts and ends of intervals, slot by slot. */
class OpenJoinProcessor(val spec: OpenJoinSpec)
    extends StatefulProcessor[Int, Array[Byte], InternalRow] with SlotProcessor {
  @transient private var stored: ValueState[Array[Byte]] = _
  @transient private lazy val pairs = new OpenPairs(spec)

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    stored = getHandle.getValueState[Array[Byte]]("intervals", Encoders.BINARY, TTLConfig.NONE)

  override def handleInputRows(
      slot: Int,
      rows: Iterator[Array[Byte]],
      times: TimerValues): Iterator[InternalRow] = run(rows, times, fired = None)

  override def handleExpiredTimer(
      slot: Int,
      times: TimerValues,
      timer: ExpiredTimerInfo): Iterator[InternalRow] =
    run(Iterator.empty, times, fired = Some(timer.getExpiryTimeInMs()))

  private def run(
      rows: Iterator[Array[Byte]],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val watermark = times.getCurrentWatermarkInMs()
    val intervals = new OpenIntervals(spec, Option(stored.get()))
    rows.foreach(intervals.add)
    val found = intervals.decide(watermark * 1000, pairs.holds)
    if (watermark != intervals.before / 1000 || intervals.isNew) {
      // A timer that calls is removed by the caller.
      val old = intervals.before / 1000 + 1
      if (!intervals.isNew && !fired.contains(old)) getHandle.deleteTimer(old)
      getHandle.registerTimer(watermark + 1)
    }
    stored.update(intervals.kept(watermark * 1000))
    found.iterator.map(pairs.of) ++ Iterator(intervals.counts).map(pairs.only)
  }

  override def toString: String = spec.description
}

/** Pairs of intervals as rows; what a task makes once. */
final class OpenPairs(spec: OpenJoinSpec) {
  private val left = new UnsafeRow(spec.left.size)
  private val right = new UnsafeRow(spec.right.size)
  private val (pair, result) = (new JoinedRow, new JoinedRow)
  private val noCounts = new GenericInternalRow(1)
  private val residual: Option[BasePredicate] =
    spec.residual.map(Predicate.create(_, spec.left ++ spec.right))
  residual.foreach(_.initialize(0))

  private def joined(l: OpenInterval, r: OpenInterval): InternalRow = {
    left.pointTo(l.bytes, l.bytes.length)
    right.pointTo(r.bytes, r.bytes.length)
    pair(left, right)
  }

  def holds(l: OpenInterval, r: OpenInterval): Boolean = residual.forall(_.eval(joined(l, r)))

  def of(both: (OpenInterval, OpenInterval)): InternalRow =
    result(joined(both._1, both._2), noCounts)

  def only(counts: StreamJoinCounts): InternalRow = {
    val nothing =
      pair(new GenericInternalRow(spec.left.size), new GenericInternalRow(spec.right.size))
    result(nothing, InternalRow(counts.row))
  }
}
