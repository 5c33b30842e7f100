// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.state.{RowBuffer, RowFields, SortedRows}

/**
 * The new rows of a micro-batch. Late, reversed and too long rows are dropped and counted. Rows
 * that can match nothing, because a field is NULL, are kept apart. The other rows are joined.
 *
 * @param partition the number of the state partition
 * @param before    for each side the largest number of its earlier rows, in a join by row numbers
 * @param late      rows with clock <= late are late, in a join by event time
 */
private[streams] final class InputBuffer(
    spec: StreamJoinSpec,
    partition: Int,
    before: Map[Side, Long],
    late: Option[Long]) {
  private val rows =
    (for (side <- Side.all; owned <- Seq(true, false)) yield (side, owned) -> new RowBuffer).toMap
  private val unmatched = Side.all.map(side => side -> new RowBuffer).toMap
  private var largest = before
  val counts = new StreamJoinCounts

  /** For each side the largest number of its rows so far. */
  def latest: Map[Side, Long] = largest

  /** Adds the rows of a chunk of packed rows. */
  def add(side: Side, chunk: Array[Byte]): Unit = {
    val (owned, replicated) = (rows((side, true)), rows((side, false)))
    val unmatchedRows = if (spec.output.keepsUnmatched(side)) Some(unmatched(side)) else None
    val end = spec.fields(side).firstColumn
    var latest = largest(side)
    val bound = late.getOrElse(spec.arrived(before(side)))
    val isBounded = bound != Long.MinValue
    val all = RowUnpacker.unsafeRows(chunk, spec.attributes(side).size)
    while (all.hasNext) {
      val row = all.next()
      val flags = row.getInt(RowFields.Flags)
      // If a row goes to all partitions, only the partition that stores it counts it.
      val isOwned = !spec.spread.contains(side) || flags >> RowFields.FlagBits == partition
      val one = if (isOwned) 1 else 0
      val isKnown = !row.isNullAt(RowFields.Clock)
      val clock = row.getLong(RowFields.Clock)
      val isSound = (flags & (RowFields.IsTooLong | RowFields.IsReversed)) == 0
      if (isSound && isKnown) latest = math.max(latest, clock)
      if ((flags & RowFields.IsTooLong) != 0) counts.tooLong += one
      else if (!isSound) counts.reversed += one
      else if (isBounded && isKnown && clock <= bound) {
        spec.inOrder.foreach(StreamErrors.disorder(side, _, clock, bound))
        counts.late += one
      } else if (mayMatch(row, end)) (if (isOwned) owned else replicated).add(row)
      else if (isOwned) unmatchedRows.foreach(_.add(row))
    }
    if (spec.disorder.isDefined) largest = largest.updated(side, latest)
  }

  /** Whether a row may match: its key, clock, expiry and endpoints are not NULL. */
  private def mayMatch(row: UnsafeRow, end: Int): Boolean = {
    var field = RowFields.Key
    while (field < end && !row.isNullAt(field)) field += 1
    field == end
  }

  /** The rows that may match, sorted: those that this partition stores (owned), or the others. */
  def blocks(isOwned: Boolean): Map[Side, SortedRows] = Side.all.map { side =>
    side -> SortedRows.of(rows((side, isOwned)), spec.fields(side))
  }.toMap

  /** The rows that can match nothing and that the join returns as unmatched rows. */
  def unmatchedRows: Iterator[(Side, SortedRows, Int)] = Side.all.iterator.flatMap { side =>
    val block = SortedRows.ofSorted(unmatched(side), spec.fields(side))
    (0 until block.size).iterator.map(i => (side, block, i))
  }
}
