// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.nearest

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.expressions.{Ascending, RowOrdering, SortOrder, UnsafeRow}
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}

/**
 * The last rows of each key, up to a number, in a map of the state:
 * {{{
 *   key   ->   size INT | row | size INT | row | ...      in the order of their times
 * }}}
 * Reading a key takes one read of the state, and adding rows to it one more and a write.
 *
 * @param count the number of rows of a key
 * @param ties  the order of rows with equal times; the greatest ones are kept
 */
private[nearest] final class LastRows(
    handle: StatefulProcessorHandle,
    side: StreamSide,
    count: Int,
    ties: Seq[SortOrder]) {
  private val stored: MapState[Array[Byte], Array[Byte]] =
    handle.getMapState("last", Encoders.BINARY, Encoders.BINARY, TTLConfig.NONE)

  private lazy val order: Ordering[UnsafeRow] = {
    val rows = RowOrdering.create(SortOrder(side.time, Ascending) +: ties, side.columns)
    (a, b) => rows.compare(a, b)
  }

  /** The stored rows of a key. */
  def of(key: UnsafeRow): Seq[UnsafeRow] =
    Option(stored.getValue(key.getBytes)).fold[Seq[UnsafeRow]](Nil)(rowsIn)

  /**
   * Adds rows to a key, and drops those that are not among the last ones.
   *
   * @param rows in the order of their times; the caller does not change them
   * @return how many more rows of the key are stored now
   */
  def add(key: UnsafeRow, rows: Seq[UnsafeRow]): Long = {
    val before = of(key)
    val areLater = before.isEmpty || order.lteq(before.last, rows.head)
    val all = if (areLater) before ++ rows else (before ++ rows).sorted(order)
    val kept = all.takeRight(count)
    stored.updateValue(key.getBytes, bytesOf(kept))
    kept.size - before.size
  }

  /** Drops the rows until a time; returns their number. It reads all rows. */
  def evict(until: Long): Long = {
    val changed = stored.iterator().flatMap { case (key, bytes) =>
      val rows = rowsIn(bytes)
      val kept = rows.filter(_.getLong(side.timeOrdinal) > until)
      Option.when(kept.size < rows.size)((key, kept, rows.size - kept.size))
    }.toSeq
    changed.foreach { case (key, kept, _) =>
      if (kept.isEmpty) stored.removeKey(key) else stored.updateValue(key, bytesOf(kept))
    }
    changed.map(_._3.toLong).sum
  }

  private def rowsIn(bytes: Array[Byte]): Seq[UnsafeRow] = {
    val (rows, buffer) = (new ArrayBuffer[UnsafeRow](count), ByteBuffer.wrap(bytes))
    while (buffer.hasRemaining) {
      val own = new Array[Byte](buffer.getInt())
      buffer.get(own)
      val row = new UnsafeRow(side.columns.size)
      row.pointTo(own, own.length)
      rows += row
    }
    rows.toSeq
  }

  private def bytesOf(rows: Seq[UnsafeRow]): Array[Byte] = {
    val buffer = ByteBuffer.allocate(rows.map(_.getSizeInBytes + Integer.BYTES).sum)
    rows.foreach(row => buffer.putInt(row.getSizeInBytes).put(row.getBytes))
    buffer.array()
  }
}
