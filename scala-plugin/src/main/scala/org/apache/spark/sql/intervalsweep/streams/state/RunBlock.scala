// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.util.BitSet

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * The facts that an operator notes about each stored row of a side.
 *
 * @param hasDone    whether a row is done: matched, emitted as unmatched, or replaced
 * @param doneLeaves whether a row leaves the state when it is done
 * @param hasCounts  the number of its matches
 */
final case class RowMarks(hasDone: Boolean, doneLeaves: Boolean, hasCounts: Boolean)

/**
 * Rows of one side: a run of the state, which is read at its first use, or new rows.
 *
 * @param run the run; None for new rows
 */
final class RunBlock private (
    val side: Side,
    val run: Option[StoredRun],
    val marks: RowMarks,
    store: SortedRunStore,
    known: Option[SortedRows]) {
  lazy val rows: SortedRows = known.getOrElse(store.rows(run.get))

  /** The rows that are done. */
  lazy val done: BitSet =
    if (marks.hasDone) run.fold(new BitSet)(store.done) else new BitSet

  /** The number of matches of each row. */
  lazy val counts: Array[Long] =
    if (!marks.hasCounts) Array.emptyLongArray
    else run.fold(new Array[Long](rows.size))(store.matchCounts)

  private var changed = false

  /** Whether a row has become done, or has got matches. */
  def isChanged: Boolean = changed

  def setDone(i: Int): Unit = {
    done.set(i)
    changed = true
  }

  def addMatches(i: Int, more: Long): Unit = {
    counts(i) += more
    changed = true
  }

  def matchesOf(i: Int): Long = if (marks.hasCounts) counts(i) else 0

  /** Whether a row stays in the state. */
  def isAlive(i: Int, now: Long): Boolean =
    rows.expiries(i) > now && !(marks.doneLeaves && done.get(i))

  /** The rows that stay in the state, in ascending order. */
  def alive(now: Long): Array[Int] = rowsThat(isAlive(_, now))

  /** The rows that fulfil a condition, in ascending order. */
  def rowsThat(isTaken: Int => Boolean): Array[Int] = {
    val taken = new ArrayBuffer[Int]
    var i = 0
    while (i < rows.size) { if (isTaken(i)) taken += i; i += 1 }
    taken.toArray
  }

  /** Writes the marks of a run that stays, and notes when its next row expires. */
  private[state] def update(now: Long): StoredRun = {
    val first = alive(now).iterator.map(rows.expiries(_)).min
    val own = run.get.copy(first = first)
    if (isChanged) putMarks(own) else own
  }

  private[state] def putMarks(own: StoredRun): StoredRun = {
    val done = if (marks.hasDone) store.putDone(own, this.done) else own
    if (marks.hasCounts) store.putMatchCounts(done, counts) else done
  }
}

object RunBlock {
  def stored(run: StoredRun, marks: RowMarks, store: SortedRunStore): RunBlock =
    new RunBlock(run.side, Some(run), marks, store, None)

  def ofNewRows(
      side: Side,
      rows: SortedRows,
      marks: RowMarks,
      store: SortedRunStore): RunBlock =
    new RunBlock(side, None, marks, store, Some(rows))
}
