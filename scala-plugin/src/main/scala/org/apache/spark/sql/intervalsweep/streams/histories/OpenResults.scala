// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.intervalsweep.temporal.fragments.FragmentStep
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}

/**
 * A piece of a result row, or a stored row:
 * {{{
 *   the values as a row BINARY | start LONG | end LONG, or the number of written fragments |
 *   a count that is added up over the pieces LONG, or 0
 * }}}
 */
private[histories] object OpenResult {
  val Values = 0
  val Start = 1
  val End = 2
  val Written = 2
  val Count = 3
  val types: Array[DataType] = Array(BinaryType, LongType, LongType, LongType)
}

/**
 * A result row that goes on.
 *
 * @param start   its start, in microseconds
 * @param written the number of its fragments that have been written, if long rows are cut
 * @param count   the sum of the counts of its pieces
 */
private[histories] final case class OpenRow(start: Long, written: Long, count: Long)

/**
 * The part of a result row that is written in a micro-batch: from what has been written of it to
 * its end, or to the end of its last fragment.
 */
private[histories] final case class WrittenPart(
    values: Array[Byte],
    row: OpenRow,
    end: Long,
    isLast: Boolean) {

  /** The periods of the rows to write. They may be many. */
  def periods(maxLength: Option[FragmentStep]): Iterator[(Long, Long)] =
    maxLength.fold(Iterator.single((row.start, end))) { step =>
      Iterator.iterate(row.written)(_ + 1).map(n => (step.start(row.start, n), n))
        .takeWhile(_._1 < end)
        .map { case (from, n) => (from, math.min(step.start(row.start, n + 1), end)) }
    }
}

/**
 * The result rows of a partition that go on from one slice to the next.
 * {{{
 *   stored starts        2  5                     rows that were valid at `before`
 *   pieces               [before, 12) [before, now + 1) [14, now + 1)
 *   ended                [2, 12)
 *   stored next          5  14
 * }}}
 * Equal rows are exchangeable: the row that starts first ends first, as in the canonical form of a
 * history. So only the number of rows that start and end at each instant counts.
 *
 * @param maxLength the fragments in which long rows are written, each when it has ended
 */
private[histories] final class OpenResults(slice: Slice, maxLength: Option[FragmentStep]) {
  private val groups = mutable.LinkedHashMap.empty[RowBytes, OpenGroup]

  /** Whether the stored rows change. */
  var changed = false

  def addOpen(row: UnsafeRow): Unit =
    group(row).open += OpenRow(
      row.getLong(OpenResult.Start),
      row.getLong(OpenResult.Written),
      row.getLong(OpenResult.Count))

  def addPiece(row: UnsafeRow): Unit =
    group(row).add(
      row.getLong(OpenResult.Start),
      row.getLong(OpenResult.End),
      row.getLong(OpenResult.Count),
      slice)

  private def group(row: UnsafeRow): OpenGroup =
    groups.getOrElseUpdate(new RowBytes(row.getBinary(OpenResult.Values)), new OpenGroup)

  /** The parts of rows to write in the slice. Call this once, after all rows have been added. */
  def written(): Seq[WrittenPart] = {
    val written = new ArrayBuffer[WrittenPart]
    for ((values, group) <- groups) {
      group.advance(
        slice,
        (row, end) => written += WrittenPart(values.bytes, row, end, isLast = true))
      maxLength.foreach(group.cut(
        _,
        slice.now,
        (row, end) => written += WrittenPart(values.bytes, row, end, isLast = false)))
      changed |= group.changed
    }
    written.toSeq
  }

  /** The rows that go on at the end of the slice. */
  def remaining: Iterator[UnsafeRow] = {
    val project = UnsafeProjection.create(OpenResult.types)
    for ((values, group) <-
        groups.iterator;
      row <- group.open.iterator)
      yield project(new GenericInternalRow(Array[
        Any](values.bytes, row.start, row.written, row.count)))
  }
}

/** The rows with the same values. */
private final class OpenGroup {

  /** The rows that are valid at the beginning of the slice, then at its end. */
  val open = mutable.Queue.empty[OpenRow]

  /** When rows start and end in the slice. */
  private val (starts, ends) = (new SortedTimes, new SortedTimes)

  /** The counts of pieces, by their starts. Pieces that have a count do not overlap. */
  private val counts = mutable.HashMap.empty[Long, Long]

  /** Whether the rows that go on have changed. */
  var changed = false

  def add(start: Long, end: Long, count: Long, slice: Slice): Unit = {
    starts.add(start)
    if (end <= slice.now) ends.add(end)
    if (count > 0) counts(start) = count
  }

  def advance(slice: Slice, ended: (OpenRow, Long) => Unit): Unit = {
    open.sortInPlaceBy(_.start)
    for (added <- counts.get(slice.before)) {
      changed = true
      open.mapInPlace(row => row.copy(count = row.count + added))
    }
    starts.sort()
    ends.sort()
    // The pieces at the beginning of the slice are the stored rows, unless a table has changed.
    change(slice.before, starts.take(slice.before) - ends.take(slice.before) - open.size, ended)
    var time = math.min(starts.next, ends.next)
    while (time != SortedTimes.None) {
      change(time, starts.take(time) - ends.take(time), ended)
      time = math.min(starts.next, ends.next)
    }
  }

  /** Starts rows, or ends those that started first. */
  private def change(time: Long, by: Int, ended: (OpenRow, Long) => Unit): Unit = if (by != 0) {
    changed = true
    (0 until by).foreach(_ => open.enqueue(OpenRow(time, 0, counts.getOrElse(time, 0L))))
    (by until 0).foreach(_ => ended(open.dequeue(), time))
  }

  /** Writes the fragments of open rows that have ended. */
  def cut(step: FragmentStep, now: Long, ended: (OpenRow, Long) => Unit): Unit =
    open.mapInPlace { row =>
      val until = step.count(row.start, row.written, now)
      if (until == row.written) row
      else {
        changed = true
        ended(row, step.start(row.start, until))
        row.copy(written = until)
      }
    }
}

/** Times, which are added in any order, and then taken in the order of time. */
private final class SortedTimes {
  private var times = new Array[Long](4)
  private var size = 0
  private var first = 0

  def add(time: Long): Unit = {
    if (size == times.length) times = Arrays.copyOf(times, 2 * size)
    times(size) = time
    size += 1
  }

  def sort(): Unit = Arrays.sort(times, 0, size)

  /** The next time; None if there are no more. */
  def next: Long = if (first < size) times(first) else SortedTimes.None

  /** Takes the times that equal the given one, if it is the next one; returns their number. */
  def take(time: Long): Int = {
    val before = first
    while (first < size && times(first) == time) first += 1
    first - before
  }
}

private object SortedTimes {
  val None: Long = Long.MaxValue
}

/** The bytes of a row as a key. */
private final class RowBytes(val bytes: Array[Byte]) {
  override def hashCode: Int = Arrays.hashCode(bytes)
  override def equals(other: Any): Boolean = other match {
    case that: RowBytes => Arrays.equals(bytes, that.bytes)
    case _ => false
  }
}
