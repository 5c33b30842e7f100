// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import java.nio.ByteBuffer
import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinCounts
import org.apache.spark.sql.intervalsweep.streams.state.{RowBuffer, RowFields, RunBlock, SortedRows}

/**
 * An interval whose start has arrived. Its end may have arrived, or may be unknown.
 *
 * @param rows  the rows that contain the latest row of the interval, with number `at`
 * @param was   the end that the previous micro-batch knew
 * @param isNew whether the previous micro-batch did not know the interval
 */
private[streams] final class OngoingInterval(
    var rows: RowBuffer,
    var at: Int,
    val key: Long,
    val start: Long,
    var end: Long,
    val was: Long,
    val isNew: Boolean) {

  /** Whether this micro-batch has brought the start or the end. */
  def isTouched: Boolean = isNew || end != was
}

/**
 * The intervals of one side of a partition: ongoing ones, and ended ones with undecided pairs. They
 * are in sorted runs, by key and start. An interval whose end arrives is written again, to the run
 * of the new rows, and its earlier row is marked as done.
 *
 * Cost: a micro-batch writes the intervals that have started or ended, and what
 * [[org.apache.spark.sql.intervalsweep.streams.state.RunCompaction]] merges. It looks up each row
 * by its id in each run: O(log n).
 *
 * @param stored the runs of the side
 * @param before the watermark of the previous micro-batch, in microseconds
 */
private[streams] final class OngoingIntervals(
    spec: OngoingJoinSpec,
    side: Side,
    stored: Seq[RunBlock],
    before: Long,
    counts: StreamJoinCounts) {
  import OngoingCondition.Unknown

  private val row = new UnsafeRow(spec.attributes(side).size)
  private val idField = spec.fields(side).firstColumn
  private val arrived = new RowBuffer
  private val touched = new JHashMap[ByteBuffer, OngoingInterval]

  /** Adds a row that reports a start or an end. */
  def add(row: UnsafeRow): Unit = {
    val isWhole = !row.isNullAt(RowFields.Key) && !row.isNullAt(idField) &&
      !row.isNullAt(OngoingIntervals.Start)
    if (!row.isNullAt(RowFields.Clock) && row.getLong(RowFields.Clock) <= before) counts.late += 1
    else if (isWhole) take(row, row.getBinary(idField), row.getLong(OngoingIntervals.End))
  }

  private def take(row: UnsafeRow, id: Array[Byte], end: Long): Unit = {
    val start = row.getLong(OngoingIntervals.Start)
    if (end != Unknown && end < start) counts.reversed += 1
    else if (end != Unknown && end <= before) counts.late += 1
    else {
      val name = ByteBuffer.wrap(id)
      Option(touched.get(name)).orElse(storedUnder(id, name, hasEnd = end != Unknown)) match {
        case Some(known) => if (known.end == Unknown && end != Unknown) finish(known, row, end)
        case None if start <= before => counts.late += 1
        case None =>
          arrived.add(row)
          val key = row.getLong(RowFields.Key)
          val last = arrived.size - 1
          touched.put(
            name,
            new OngoingInterval(arrived, last, key, start, end, Unknown, isNew = true))
          ()
      }
    }
  }

  /**
   * The stored interval with an id. If it is still ongoing and its end has arrived, its stored row
   * is replaced.
   */
  private def storedUnder(
      id: Array[Byte],
      name: ByteBuffer,
      hasEnd: Boolean): Option[OngoingInterval] = {
    val found = for {
      block <- stored.iterator
      i <- index(block).withId(id) if isKnown(block, i)
    } yield (block, i)
    found.nextOption().map { case (block, i) =>
      val interval = of(block, i)
      if (hasEnd && interval.end == Unknown) {
        block.setDone(i)
        touched.put(name, interval)
      }
      interval
    }
  }

  private def finish(interval: OngoingInterval, row: UnsafeRow, end: Long): Unit = {
    arrived.add(row)
    interval.rows = arrived
    interval.at = arrived.size - 1
    interval.end = end
  }

  private def index(block: RunBlock): OngoingIndex =
    block.rows.index(new OngoingIndex(spec, side, block.rows))

  private def of(block: RunBlock, i: Int): OngoingInterval = {
    val end = OngoingIndex.end(block.rows, i)
    val start = OngoingIndex.start(block.rows, i)
    new OngoingInterval(block.rows.rows, i, block.rows.keys(i), start, end, end, isNew = false)
  }

  private def isKnown(block: RunBlock, i: Int): Boolean = block.isAlive(i, before)

  /** The touched intervals, sorted by key and start. */
  private lazy val sorted: Array[OngoingInterval] = {
    val all = touched.values.asScala.toArray
    all.sortBy(interval => (interval.key, interval.start))
  }

  /** The intervals that have been touched, or with a pair that the watermark `now` can change. */
  def due(now: Long): Iterator[OngoingInterval] = {
    val turning = for {
      block <- stored.iterator
      i <- index(block).turningIn(before, now) if isKnown(block, i)
    } yield of(block, i)
    sorted.iterator ++ turning
  }

  /** Whether [[due]] has an interval. */
  def isDue(interval: OngoingInterval, now: Long): Boolean = interval.isTouched ||
    spec.formula.turns(side, interval.start, interval.end).exists(t => before < t && t <= now)

  /** The intervals of a key that start from `least` to `most`. */
  def starting(key: Long, least: Long, most: Long): Iterator[OngoingInterval] = {
    val ofRuns = for {
      block <- stored.iterator
      rows = block.rows
      i <- from(rows.size, key, least)(rows.keys, OngoingIndex.start(rows, _))
        .takeWhile(i => rows.keys(i) == key && OngoingIndex.start(rows, i) <= most)
      if isKnown(block, i)
    } yield of(block, i)
    val ofTouched = from(sorted.length, key, least)(sorted(_).key, sorted(_).start)
      .map(sorted).takeWhile(i => i.key == key && i.start <= most)
    ofRuns ++ ofTouched
  }

  /** The places from the first one on that is not before a key and start. */
  private def from(size: Int, key: Long, start: Long)(
      keys: Int => Long,
      starts: Int => Long): Iterator[Int] = {
    var (from, until) = (0, size)
    while (from < until) {
      val middle = (from + until) >>> 1
      val k = keys(middle)
      if (k < key || k == key && starts(middle) < start) from = middle + 1 else until = middle
    }
    Iterator.range(from, size)
  }

  /** The touched intervals that stay in the state, as rows. */
  def remaining(now: Long): SortedRows = {
    val kept = new RowBuffer
    sorted.foreach { interval =>
      val leaves = expiry(interval)
      if (leaves > now) {
        interval.rows.point(row, interval.at)
        // The first row of an interval decides where it is sorted.
        row.setLong(RowFields.Key, interval.key)
        row.setLong(OngoingIntervals.Start, interval.start)
        row.setLong(RowFields.Expiry, leaves)
        kept.add(row)
      }
    }
    SortedRows.of(kept, spec.fields(side))
  }

  /** When all pairs of the interval are decided. */
  private def expiry(interval: OngoingInterval): Long =
    if (interval.end == Unknown) Long.MaxValue
    else spec.formula.expiry(side, interval.start, interval.end).getOrElse(Long.MaxValue)

  /** The number of intervals that the previous micro-batch did not know and that stay. */
  def added(now: Long): Long = sorted.count(i => i.isNew && expiry(i) > now).toLong

  /** The number of stored intervals that leave the state. */
  def expired(now: Long): Long = {
    val ended = sorted.count(i => !i.isNew && expiry(i) <= now)
    val others = stored.filter(_.run.get.first <= now).map { block =>
      block.rowsThat(i => isKnown(block, i) && block.rows.expiries(i) <= now).length
    }
    ended.toLong + others.sum
  }
}

private object OngoingIntervals {
  val Start: Int = RowFields.FirstEndpoint
  val End: Int = RowFields.FirstEndpoint + 1
}
