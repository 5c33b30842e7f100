// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}

/**
 * A piece of a result row, or a stored row:
 * {{{
 *   the values as a row BINARY | start LONG | end LONG, of no meaning in a stored row
 * }}}
 */
private[histories] object OpenResult {
  val Values = 0
  val Start = 1
  val End = 2
  val types: Array[DataType] = Array(BinaryType, LongType, LongType)
}

/** A result row whose period has ended; times in microseconds. */
private[histories] final case class EndedResult(values: Array[Byte], start: Long, end: Long)

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
 */
private[histories] final class OpenResults(slice: Slice) {
  private val groups = mutable.LinkedHashMap.empty[RowBytes, OpenGroup]

  /** Whether the stored rows change. */
  var changed = false

  def addOpen(row: UnsafeRow): Unit = group(row).starts += row.getLong(OpenResult.Start)

  def addPiece(row: UnsafeRow): Unit =
    group(row).add(row.getLong(OpenResult.Start), row.getLong(OpenResult.End), slice)

  private def group(row: UnsafeRow): OpenGroup =
    groups.getOrElseUpdate(new RowBytes(row.getBinary(OpenResult.Values)), new OpenGroup)

  /** The rows that end in the slice. Call it once, after all rows have been added. */
  def ended(): Seq[EndedResult] = {
    val ended = new ArrayBuffer[EndedResult]
    for ((values, group) <- groups)
      changed |= group.advance(
        slice,
        (start, end) =>
          ended += EndedResult(values.bytes, start, end))
    ended.toSeq
  }

  /** The rows that go on at the end of the slice. */
  def remaining: Iterator[UnsafeRow] = {
    val project = UnsafeProjection.create(OpenResult.types)
    for ((values, group) <- groups.iterator; start <- group.starts.iterator)
      yield project(new GenericInternalRow(Array[Any](values.bytes, start, 0L)))
  }
}

/** The rows with the same values. */
private final class OpenGroup {

  /** The starts of the rows that are valid at the beginning of the slice, then at its end. */
  val starts = mutable.Queue.empty[Long]

  /** How many rows start and how many end in the slice, by time. */
  private val changes = mutable.TreeMap.empty[Long, Int]

  def add(start: Long, end: Long, slice: Slice): Unit = {
    count(start, 1)
    if (end <= slice.now) count(end, -1)
  }

  private def count(time: Long, change: Int): Unit =
    changes(time) = changes.getOrElse(time, 0) + change

  /** @return whether the starts have changed */
  def advance(slice: Slice, ended: (Long, Long) => Unit): Boolean = {
    // The pieces at the beginning of the slice are the stored rows, unless a table has changed.
    count(slice.before, -starts.size)
    starts.sortInPlace()
    var changed = false
    for ((time, change) <- changes if change != 0) {
      changed = true
      (0 until change).foreach(_ => starts.enqueue(time))
      (change until 0).foreach(_ => ended(starts.dequeue(), time))
    }
    changed
  }
}

/** The bytes of a row as a key. */
private final class RowBytes(val bytes: Array[Byte]) {
  override def hashCode: Int = Arrays.hashCode(bytes)
  override def equals(other: Any): Boolean = other match {
    case that: RowBytes => Arrays.equals(bytes, that.bytes)
    case _ => false
  }
}
