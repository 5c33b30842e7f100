// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import java.nio.ByteBuffer
import java.util.{HashMap => JHashMap}

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide}
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinCounts
import org.apache.spark.sql.intervalsweep.streams.state.{JoinStateIdentity, RowFields}

/**
 * An interval whose start has arrived. Its end may have arrived, or may be unknown.
 *
 * @param bytes the latest row of the interval
 * @param was   the end that the previous micro-batch knew
 * @param isNew whether the previous micro-batch did not know the interval
 */
final class OngoingInterval(
    var bytes: Array[Byte],
    val key: Long,
    val start: Long,
    var end: Long,
    val was: Long,
    val isNew: Boolean) {
  def isTouched: Boolean = isNew || end != was
}

/**
 * The intervals of a partition: ongoing ones, and ended ones with undecided pairs.
 *
 * A micro-batch checks the pairs that are affected by a new start, a new end or the watermark. It
 * emits a pair that is certain now and was not certain in the previous micro-batch. So each pair is
 * emitted once, in the first micro-batch in which it is certain, and no state is stored per pair.
 *
 * Cost: the state of a partition is one value. Each micro-batch reads and writes all of it, so it
 * takes O(n) bytes and O(n log n) time for n stored intervals, however few of them change. Each
 * affected interval adds a binary search and a scan of the intervals in the range that its known
 * endpoints allow. The design is for some 100,000 intervals per partition, not for millions.
 */
final class OngoingIntervals(spec: OngoingJoinSpec, stored: Option[Array[Byte]]) {
  import OngoingCondition.{Holds, Unknown}
  import OngoingIntervals._

  private val known = Seq.fill(2)(new JHashMap[ByteBuffer, OngoingInterval])
  val counts = new StreamJoinCounts
  val isNew: Boolean = stored.isEmpty

  /** The watermark of the previous micro-batch, in microseconds. */
  val before: Long = stored.fold(0L)(read)

  /** Adds a row that reports a start or an end. */
  def add(side: Int, row: UnsafeRow): Unit = {
    val clock = spec.clocks(side)
    val isWhole = !row.isNullAt(Key) && !row.isNullAt(Id) && !row.isNullAt(Start)
    if (!row.isNullAt(clock) && row.getLong(clock) <= before) counts.late += 1
    else if (isWhole) {
      val end = if (row.isNullAt(End)) Unknown else row.getLong(End)
      take(side, row.getBinary(Id), row.getLong(Key), row.getLong(Start), end, row.getBytes)
    }
  }

  private def take(
      side: Int,
      id: Array[Byte],
      key: Long,
      start: Long,
      end: Long,
      bytes: Array[Byte]): Unit = {
    val name = ByteBuffer.wrap(id)
    val interval = known(side).get(name)
    if (end != Unknown && end < start) counts.reversed += 1
    else if (end != Unknown && end <= before || interval == null && start <= before) counts.late +=
      1
    else if (interval == null) {
      known(side).put(name, new OngoingInterval(bytes, key, start, end, Unknown, isNew = true))
      ()
    } else if (interval.end == Unknown && end != Unknown) {
      interval.end = end
      interval.bytes = bytes
    }
  }

  /** The pairs that have become certain. */
  def decide(
      now: Long,
      holds: (
          OngoingInterval,
          OngoingInterval) => Boolean): Seq[(OngoingInterval, OngoingInterval)] = {
    val both = known.map(sorted)
    val found = new ArrayBuffer[(OngoingInterval, OngoingInterval)]
    def look(l: OngoingInterval, r: OngoingInterval): Unit =
      if (isCertain(l, r, now) && holds(l, r)) { found += l -> r; () }
    val (left, right) = (both.head, both.last)
    left.foreach { l =>
      if (isDue(l, OngoingCondition.Left, now)) partners(l, 0, right).foreach(look(l, _))
    }
    right.foreach { r =>
      if (isDue(r, OngoingCondition.Right, now))
        partners(r, 1, left).foreach(l => if (!isDue(l, OngoingCondition.Left, now)) look(l, r))
    }
    found.toSeq
  }

  private def sorted(intervals: JHashMap[ByteBuffer, OngoingInterval]): Array[OngoingInterval] = {
    val all = intervals.values.asScala.toArray
    java.util.Arrays.sort(
      all,
      (a: OngoingInterval, b: OngoingInterval) => {
        val byKey = java.lang.Long.compare(a.key, b.key)
        if (byKey != 0) byKey else java.lang.Long.compare(a.start, b.start)
      })
    all
  }

  private def isDue(interval: OngoingInterval, own: Seq[Int], now: Long): Boolean =
    interval.isTouched ||
      spec.formula.turns(own, ends(interval, own)).exists(t => before < t && t <= now)

  private def ends(interval: OngoingInterval, own: Seq[Int])(endpoint: Int): Long =
    if (endpoint == own.head) interval.start else interval.end

  /** The intervals of the same key whose start is in the range for a match. */
  private def partners(
      interval: OngoingInterval,
      side: Int,
      others: Array[OngoingInterval]): Iterator[OngoingInterval] = {
    val own = if (side == 0) OngoingCondition.Left else OngoingCondition.Right
    val theirs = if (side == 0) OngoingCondition.Right.head else OngoingCondition.Left.head
    val value = ends(interval, own)(_)
    val known = spec.formula.distances.filter(d =>
      own.contains(d.of) && value(d.of) != Unknown || own.contains(d.from) && value(
        d.from) != Unknown)
    val most = known.filter(_.of == theirs).map(d => value(d.from) + d.limit)
    val least = known.filter(_.from == theirs).map(d => value(d.of) - d.limit)
    val from = first(others, interval.key, least.maxOption.getOrElse(Long.MinValue))
    val upTo = most.minOption.getOrElse(Long.MaxValue)
    others.iterator.drop(from).takeWhile(o => o.key == interval.key && o.start <= upTo)
  }

  private def first(others: Array[OngoingInterval], key: Long, start: Long): Int = {
    var (from, until) = (0, others.length)
    while (from < until) {
      val middle = (from + until) >>> 1
      val o = others(middle)
      if (o.key < key || o.key == key && o.start < start) from = middle + 1 else until = middle
    }
    from
  }

  private val buffer = new Array[Long](4)

  /** Whether a pair is certain now and was not certain in the previous micro-batch. */
  private def isCertain(l: OngoingInterval, r: OngoingInterval, now: Long): Boolean = {
    def decision(left: Long, right: Long, at: Long) = {
      buffer(0) = l.start
      buffer(1) = left
      buffer(2) = r.start
      buffer(3) = right
      spec.formula.decide(buffer, at)
    }
    decision(l.end, r.end, now) == Holds &&
    (l.isNew || r.isNew || decision(l.was, r.was, before) != Holds)
  }

  /** The new state: ongoing intervals, and ended intervals with undecided pairs. */
  def kept(now: Long): Array[Byte] = {
    val all = known.zip(Seq(OngoingCondition.Left, OngoingCondition.Right)).map {
      case (intervals, own) =>
        intervals.values.asScala.filter { i =>
          i.end == Unknown || spec.formula.expiry(own, ends(i, own)).forall(_ > now)
        }.toSeq
    }
    val left = known.iterator.flatMap(_.values.asScala).filter(!_.isNew).size -
      all.flatten.count(!_.isNew)
    counts.expired = left.toLong
    counts.stored = all.map(_.size.toLong).sum
    counts.storedRuns = 1
    val texts = spec.fingerprint.packed
    val buffer =
      ByteBuffer.allocate(16 + texts.length + all.flatten.map(_.bytes.length + 12).sum)
    buffer.putInt(JoinStateIdentity.Format).putInt(spec.fingerprint.hash).putLong(now).put(texts)
    all.flatten.foreach(i => buffer.putLong(i.start).putInt(i.bytes.length).put(i.bytes))
    buffer.array()
  }

  private def read(bytes: Array[Byte]): Long = {
    val buffer = ByteBuffer.wrap(bytes)
    val format = buffer.getInt()
    JoinStateIdentity.checkFormat(format)
    val (hash, watermark) = (buffer.getInt(), buffer.getLong())
    val written = JoinStateIdentity.read(format, hash, buffer)
    val before = spec.earlier.get(hash)
    if (before.isEmpty) spec.fingerprint.check(written)
    // One reader serves both sides: the fields that are read here are the same, and the sides have
    // the same number of fields.
    val row = new UnsafeRow(before.fold(spec.left.size)(_(LeftSide).fields))
    val growing = before.map(b =>
      Seq(b(LeftSide).growing(spec.left), b(RightSide).growing(spec.right)))
    while (buffer.hasRemaining) {
      val start = buffer.getLong()
      val bytes = new Array[Byte](buffer.getInt())
      buffer.get(bytes)
      row.pointTo(bytes, bytes.length)
      val side = row.getInt(Flags) & RowFields.IsRight
      val end = if (row.isNullAt(End)) Unknown else row.getLong(End)
      val kept = growing.fold(bytes)(_(side)(row).getBytes)
      val interval = new OngoingInterval(kept, row.getLong(Key), start, end, end, isNew = false)
      known(side).put(ByteBuffer.wrap(row.getBinary(Id)), interval)
    }
    watermark
  }
}

object OngoingIntervals {

  // The fields of a packed row.
  private val Flags = 0
  private val Key = 1
  private val Id = 2
  private val Start = 3
  private val End = 4
  val FirstColumn = 5
}
