// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows

/**
 * Counts the matches of left rows, without comparing each pair where possible.
 *
 * The window of rows is a band of row numbers. Let F and L be the new rows with the smallest and
 * the largest number. A stored row within the band of F and of L is within the band of every new
 * row. If there is such a row, a stored row within the band of neither is outside the band of all
 * new rows. The other stored rows are at the edge of the window:
 * {{{
 *   stored rows by number   ..........eeeeeeeewwwwwwwwwwwwwwww
 *                           too far   edge    within            the band of F and of L
 * }}}
 * The rows within are counted per box in O(log n), whatever the number of pairs. The rows at the
 * edge are compared pair by pair.
 */
private[streams] final class MatchCounter(spec: StreamJoinSpec, readers: JoinedRowProjector) {

  /**
   * The probe plan to count with: either one finds all pairs, and a count per box must be one per
   * left row. None if no plan has left rows as boxes and a band as its residual.
   */
  private val ofLeft: Option[Side] = Side.all
    .find(side => spec.pairings(side).sweeps.forall(_.boxes == LeftSide))
    .filter(spec.pairings(_).isBand)

  /**
   * Counts the pairs of two blocks.
   *
   * @param add receives a left row and the number of matches to add to its count
   */
  def count(newSide: Side, left: SortedRows, right: SortedRows)(add: (Int, Int) => Unit): Unit =
    ofLeft match {
      case None => look(newSide, left, right)(add)
      case Some(way) if newSide == LeftSide =>
        val (within, edge) = split(way, RightSide, right, left)
        inOrder(way, left, right.take(within))(add)
        look(way, left, right.take(edge))(add)
      case Some(way) =>
        val (within, edge) = split(way, LeftSide, left, right)
        inOrder(way, left.take(within), right)((l, n) => add(within(l), n))
        look(way, left.take(edge), right)((l, n) => add(edge(l), n))
    }

  /** The rows within the band of all new rows, and those that may be within the band of some. */
  private def split(
      way: Side,
      side: Side,
      rows: SortedRows,
      newRows: SortedRows): (Array[Int], Array[Int]) = {
    val all = Array.range(0, rows.size)
    readers.residual(way).fold((all, Array.emptyIntArray)) { condition =>
      def isNear(i: Int, newRow: Int): Boolean = {
        rows.point(readers.reader(side), i)
        newRows.point(readers.reader(side.other), newRow)
        condition.holds
      }
      // `ends` compares expiries, which are in the order of the row numbers.
      val (first, last) = MatchCounter.ends(newRows)
      def near(i: Int): Int = (if (isNear(i, first)) 1 else 0) + (if (isNear(i, last)) 1 else 0)
      try {
        val (oldest, newest) = MatchCounter.ends(rows)
        if (near(oldest) + near(newest) == 4) (all, Array.emptyIntArray)
        else {
          val nearTo = all.map(near)
          val within = all.filter(nearTo(_) == 2)
          (within, all.filter(i => nearTo(i) == 1 || nearTo(i) == 0 && within.isEmpty))
        }
      } catch {
        // If a difference of numbers overflows, the query must fail only if the rest of the
        // condition is true. Hence compare pair by pair.
        case _: ArithmeticException => (Array.emptyIntArray, all)
      }
    }
  }

  private def inOrder(way: Side, left: SortedRows, right: SortedRows)(
      add: (Int, Int) => Unit): Unit =
    if (left.size > 0 && right.size > 0)
      spec.pairings(way).sweeps.foreach(MatchCounter.ofBoxes(_, left, right)(add))

  private def look(way: Side, left: SortedRows, right: SortedRows)(
      add: (Int, Int) => Unit): Unit = {
    val residual = readers.residual(way)
    def holds(l: Int, r: Int): Boolean = residual.forall { condition =>
      left.point(readers.left, l)
      right.point(readers.right, r)
      condition.holds
    }
    val sweeps = if (left.size > 0 && right.size > 0) spec.pairings(way).sweeps else Nil
    sweeps.zipWithIndex.foreach { case (sweep, number) =>
      residual.foreach(_.of(number))
      MatchCounter.pairs(sweep, left, right)((l, r) => if (holds(l, r)) add(l, 1))
    }
  }
}

private object MatchCounter {

  /** The rows with the smallest and the largest number. */
  private def ends(rows: SortedRows): (Int, Int) = {
    val numbers = rows.expiries
    var (least, greatest, i) = (0, 0, 1)
    while (i < numbers.length) {
      if (numbers(i) < numbers(least)) least = i
      if (numbers(i) > numbers(greatest)) greatest = i
      i += 1
    }
    (least, greatest)
  }

  /** Calls `found` for each pair of a sweep. */
  private def pairs(sweep: Sweep, left: SortedRows, right: SortedRows)(
      found: (Int, Int) => Unit): Unit = {
    val isLeftBoxes = sweep.boxes == LeftSide
    val (boxes, points) = if (isLeftBoxes) (left, right) else (right, left)
    val search = SortedRows.search(sweep, boxes, points)
    val runs = new RunBatch
    for (box <- 0 until boxes.size) {
      runs.size = 0
      search.find(box, runs, firstOnly = false)
      for (k <- 0 until runs.size; point <- runs.first(k) until runs.first(k) + runs.count(k))
        if (isLeftBoxes) found(box, point) else found(point, box)
    }
  }

  /** Counts the points in each box: O(log n) per box. */
  private def ofBoxes(sweep: Sweep, boxes: SortedRows, points: SortedRows)(
      add: (Int, Int) => Unit): Unit = {
    val search = SortedRows.search(sweep, boxes, points)
    val counts = sweep.second.map(axis => points.counts(axis.point))
    var box = 0
    while (box < boxes.size) {
      search.read(box)
      if (search.first < search.end) {
        val n = counts.fold(search.end - search.first) { counts =>
          val within = search.secondInterval
          counts.count(search.first, search.end, within.least, within.most)
        }
        if (n > 0) add(box, n)
      }
      box += 1
    }
  }
}
