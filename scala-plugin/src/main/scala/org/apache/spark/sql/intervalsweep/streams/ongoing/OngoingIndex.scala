// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.index.KeyRange
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/**
 * Finds the rows of a sorted run by the id of their interval, and by the watermarks at which the
 * outcome of their pairs can change: O(log n) each. It takes O(n log n) to build.
 */
private[streams] final class OngoingIndex(spec: OngoingJoinSpec, side: Side, rows: SortedRows) {
  private val idField = spec.fields(side).firstColumn

  /** For each row the hash of its id, and its number; sorted. */
  private val ids: Array[Long] = {
    val row = newRow
    val all = Array.tabulate(rows.size) { i =>
      hash(rows.point(row, i).getBinary(idField)).toLong << 32 | i
    }
    Arrays.sort(all)
    all
  }

  /** The times at which a pair of a row can change, sorted, and the rows. */
  private val (turns, turning) = {
    val all = for {
      i <- Array.range(0, rows.size)
      turn <- spec.formula.turns(side, OngoingIndex.start(rows, i), OngoingIndex.end(rows, i))
    } yield (turn, i)
    all.sortBy(_._1).unzip
  }

  private def newRow: UnsafeRow = new UnsafeRow(spec.attributes(side).size)

  private def hash(id: Array[Byte]): Int =
    Murmur3_x86_32.hashUnsafeBytes(id, Platform.BYTE_ARRAY_OFFSET.toLong, id.length, 42)

  /** The rows with an id. */
  def withId(id: Array[Byte]): Iterator[Int] = {
    val (wanted, row) = (hash(id), newRow)
    Iterator.iterate(KeyRange.atLeast(ids, wanted.toLong << 32, 0, ids.length))(_ + 1)
      .takeWhile(k => k < ids.length && (ids(k) >> 32).toInt == wanted)
      .map(k => ids(k).toInt)
      .filter(i => Arrays.equals(rows.point(row, i).getBinary(idField), id))
  }

  /** The rows with a pair that can change after the watermark `before`, and until `now`. */
  def turningIn(before: Long, now: Long): Array[Int] = {
    val from = KeyRange.atLeast(turns, before + 1, 0, turns.length)
    turning.slice(from, KeyRange.atLeast(turns, now + 1, from, turns.length)).distinct
  }
}

private[streams] object OngoingIndex {

  def start(rows: SortedRows, i: Int): Long = rows.endpoints(0)(i)

  /** The end of an interval, or `Unknown`. */
  def end(rows: SortedRows, i: Int): Long = rows.endpoints(1)(i)
}
