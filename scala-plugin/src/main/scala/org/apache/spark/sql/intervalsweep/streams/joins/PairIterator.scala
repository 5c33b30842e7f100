// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}
import org.apache.spark.sql.intervalsweep.execution.runs.{BoxSearch, RunBatch}
import org.apache.spark.sql.intervalsweep.streams.state.{RunBlock, SortedRows}

/**
 * The pairs of matching rows of two blocks. Rows with a match are marked as done if the join tracks
 * its side. A semi or anti join stops at the first match of a row: a semi join returns the row, an
 * anti join returns nothing.
 *
 * @param newSide the side whose rows are new; its probe plan is used
 */
private[streams] final class PairIterator(
    spec: StreamJoinSpec,
    readers: JoinedRowProjector,
    newSide: Side,
    left: RunBlock,
    right: RunBlock)
    extends Iterator[InternalRow] {
  private val sweeps = spec.pairings(newSide).sweeps
  private val residual = readers.residual(newSide)
  private val (leftRows, rightRows) = (left.rows, right.rows)
  private val firstOnly = Side.all.find(spec.endsAtMatch)
  private val isReturned = firstOnly.forall(spec.output.unpaired(_).contains(true))
  private var number = -1
  private var search: BoxSearch = _
  private val runs = new RunBatch
  private var box, boxes, run, point, end = 0
  private var isLeftBoxes = false
  private var found: InternalRow = _

  override def hasNext: Boolean = {
    while (found == null && examineNext()) ()
    found != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val row = found
    found = null
    row
  }

  /** Examines the next pair; returns whether there may be another one. */
  private def examineNext(): Boolean =
    if (point < end) {
      if (isLeftBoxes) examine(box, point) else examine(point, box)
      point += 1
      true
    } else startNextRun() || startNextSweep()

  /** Moves to the next run of points in a box; false after the last box of the sweep. */
  private def startNextRun(): Boolean = {
    while (run == runs.size && box + 1 < boxes) {
      box += 1
      run = 0
      runs.size = 0
      search.find(box, runs, firstOnly = false)
    }
    val isMore = run < runs.size
    if (isMore) {
      point = runs.first(run)
      end = point + runs.count(run)
      run += 1
    }
    isMore
  }

  private def startNextSweep(): Boolean = {
    number += 1
    val isMore = number < sweeps.size
    if (isMore) {
      isLeftBoxes = sweeps(number).boxes == LeftSide
      val (own, other) = if (isLeftBoxes) (leftRows, rightRows) else (rightRows, leftRows)
      search = SortedRows.search(sweeps(number), own, other)
      boxes = own.size
      box = -1
      residual.foreach(_.of(number))
    }
    isMore
  }

  private def examine(l: Int, r: Int): Unit =
    if (!isDone(l, r)) {
      leftRows.point(readers.left, l)
      rightRows.point(readers.right, r)
      if (residual.isEmpty || residual.get.holds) {
        if (left.marks.hasDone) left.setDone(l)
        if (right.marks.hasDone) right.setDone(r)
        if (isReturned) found = firstOnly.fold(readers.current)(readers.unmatched)
      }
    }

  private def isDone(l: Int, r: Int): Boolean = firstOnly.isDefined &&
    (if (firstOnly.contains(LeftSide)) left.done.get(l) else right.done.get(r))
}
