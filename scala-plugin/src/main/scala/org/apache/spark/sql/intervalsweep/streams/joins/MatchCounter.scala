// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.intervalsweep.condition.expiry.NumberBand
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.index.KeyRange
import org.apache.spark.sql.intervalsweep.execution.runs.{
  BandCounter, BandPlaces, KeyedPoints, RunBatch
}
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows

/**
 * Counts the matches of left rows, without comparing each pair where possible.
 *
 * The window of rows is a band of row numbers. For each left row, the right rows within its band are
 * one stretch of all right rows in the order of their numbers. [[BandCounter]] counts those of them
 * that are in the box of the left row.
 */
private[streams] final class MatchCounter(spec: StreamJoinSpec, readers: JoinedRowProjector) {

  /**
   * The probe plan to count with: either one finds all pairs, and a count per box must be one per
   * left row. None if no plan has left rows as boxes and a band as its residual.
   */
  private val ofLeft: Option[(Side, BandSearch)] = Side.all
    .find(side => spec.pairings(side).sweeps.forall(_.boxes == LeftSide))
    .flatMap(side => spec.pairings(side).band.map(b => side -> new BandSearch(b, readers, spec)))

  /**
   * Counts the pairs of two blocks.
   *
   * @param add receives a left row and the number of matches to add to its count
   */
  def count(newSide: Side, left: SortedRows, right: SortedRows)(add: (Int, Int) => Unit): Unit =
    if (left.size > 0 && right.size > 0) ofLeft match {
      case None => look(newSide, left, right)(add)
      case Some((way, search)) =>
        val found =
          try Some(search.of(left, right))
          catch {
            // If a difference of numbers overflows, the query must fail only if the rest of the
            // condition is true. Hence compare pair by pair.
            case _: ArithmeticException => None
          }
        found.fold(look(way, left, right)(add)) { places =>
          spec.pairings(way).sweeps.foreach(counted(_, left, right, places)(add))
        }
    }

  private def counted(sweep: Sweep, left: SortedRows, right: SortedRows, places: BandMatches)(
      add: (Int, Int) => Unit): Unit = places match {
    case NoMatches =>
    case AllMatch =>
      val counts = sweep.second.map(axis => right.counts(axis.point))
      val keys = KeyRange.ofSorted(left.keys, right.keys)
      BandCounter.ofAll(sweep, left, right, keys, counts, Array.range(0, left.size))(add)
    case SomeMatch(found) =>
      def points(rows: SortedRows) = KeyedPoints(rows.keys, rows.endpoints)
      new BandCounter(sweep, points(left), points(right), found).count(add)
  }

  private def look(way: Side, left: SortedRows, right: SortedRows)(
      add: (Int, Int) => Unit): Unit = {
    val residual = readers.residual(way)
    def holds(l: Int, r: Int): Boolean = residual.forall { condition =>
      left.point(readers.left, l)
      right.point(readers.right, r)
      condition.holds
    }
    spec.pairings(way).sweeps.zipWithIndex.foreach { case (sweep, number) =>
      residual.foreach(_.of(number))
      MatchCounter.pairs(sweep, left, right)((l, r) => if (holds(l, r)) add(l, 1))
    }
  }
}

private object MatchCounter {

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
}

/** The pairs of two blocks that a band of row numbers admits. */
private sealed trait BandMatches
private case object NoMatches extends BandMatches
private case object AllMatch extends BandMatches
private final case class SomeMatch(places: BandPlaces) extends BandMatches

/**
 * Finds the right rows within the band of each left row. A lower bound of the band is true for a
 * right row and all right rows with larger numbers; with a larger left number it is true for fewer
 * right rows. An upper bound is the mirror image. So two pointers find all places in O(n + m).
 */
private final class BandSearch(
    band: NumberBand,
    readers: JoinedRowProjector,
    spec: StreamJoinSpec) {
  private val lower = band.lower.map(new PairResidual(_, readers, spec))
  private val upper = band.upper.map(new PairResidual(_, readers, spec))

  def of(left: SortedRows, right: SortedRows): BandMatches = {
    val (lefts, rights) = (left.byNumber, right.byNumber)
    // No short circuit: each bound is evaluated, and raises its error.
    def all(bounds: Seq[PairResidual], l: Int, r: Int): Boolean = {
      left.point(readers.left, lefts(l))
      right.point(readers.right, rights(r))
      bounds.foldLeft(true)((before, bound) => bound.holds && before)
    }
    val (lastLeft, lastRight) = (lefts.length - 1, rights.length - 1)
    // If no bound fails for the outermost numbers, none fails for those between them.
    val corners = for (l <- Seq(0, lastLeft); r <- Seq(0, lastRight))
      yield ((l, r), (all(lower, l, r), all(upper, l, r)))
    val at = corners.toMap
    if (!at((0, lastRight))._1 || !at((lastLeft, 0))._2) NoMatches
    else if (at((lastLeft, 0))._1 && at((0, lastRight))._2) AllMatch
    else {
      val (first, end) = (new Array[Int](left.size), new Array[Int](left.size))
      var (from, until, l) = (0, 0, 0)
      while (l <= lastLeft) {
        while (from <= lastRight && !all(lower, l, from)) from += 1
        while (until <= lastRight && all(upper, l, until)) until += 1
        first(lefts(l)) = from
        end(lefts(l)) = until
        l += 1
      }
      SomeMatch(new BandPlaces(rights, first, end))
    }
  }
}
