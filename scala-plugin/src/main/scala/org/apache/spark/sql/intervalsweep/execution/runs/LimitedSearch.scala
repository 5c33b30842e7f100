// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.condition.model.{KeptMatches, MatchLimit}
import org.apache.spark.sql.intervalsweep.execution.index.{AxisDistance, KeyRange, SortedPoints}
import org.apache.spark.sql.types.LongType

/**
 * Finds the matches of a box that a [[MatchLimit]] keeps. They are a part of the run of points that
 * [[BoxSearch]] finds on the lead axis, so a box takes O(log n) and a step for each kept match.
 */
private[runs] final class LimitedSearch(
    limit: MatchLimit,
    search: BoxSearch,
    boxes: SortedPoints,
    leadPoints: Array[Long]) {
  private val count = limit.count
  private val distance = limit.kept match {
    case KeptMatches.Nearest(_, dataType) => AxisDistance.of(dataType)
    case _ => AxisDistance.of(LongType)
  }

  /** Adds the kept matches of a box; returns their number. */
  def find(box: Int, runs: RunBatch): Int = {
    search.read(box)
    val (first, end) = (search.first, search.end)
    if (first < end) limit.kept match {
      case KeptMatches.Last =>
        runs.add(box, math.max(first, end - count), math.min(count, end - first))
      case KeptMatches.First => runs.add(box, first, math.min(count, end - first))
      case KeptMatches.Nearest(center, _) => addNearest(box, boxes.endpoints(center)(box), runs)
    }
    math.min(count, end - first)
  }

  private def addNearest(box: Int, center: Long, runs: RunBatch): Unit =
    if (distance.isInfinite(center)) addNearestOfInfinite(box, center, runs)
    else addNearest(box, center, search.first, search.end, runs)

  /** Takes points of [first, end) below the center and above it, the nearer one first. */
  private def addNearest(box: Int, center: Long, first: Int, end: Int, runs: RunBatch): Unit = {
    val middle = placeAfter(center, first, end)
    var below = middle
    var above = middle
    while (above - below < count && (first < below || above < end)) {
      val isBelow = first < below &&
        (above == end ||
          distance.isNearerBelow(leadPoints(below - 1), center, leadPoints(above)))
      if (isBelow) below -= 1 else above += 1
    }
    addRun(box, below, middle, runs)
    addAbove(box, middle, above, end, runs)
  }

  /**
   * The distance to the center itself and to NaN is NaN: these points come last. All other points
   * are on one side of the center.
   */
  private def addNearestOfInfinite(box: Int, center: Long, runs: RunBatch): Unit = {
    val (first, end) = (search.first, search.end)
    val equals = KeyRange.atLeast(leadPoints, center, first, end)
    val after = placeAfter(center, equals, end)
    val nans = KeyRange.atLeast(leadPoints, LimitedSearch.NaN, after, end)
    val (from, until) = if (first < equals) (first, equals) else (after, nans)
    addNearest(box, center, from, until, runs)
    val fewer = math.max(0, count - (until - from))
    val ofEquals = math.min(fewer, after - equals)
    addRun(box, after - ofEquals, after, runs)
    addRun(box, math.max(nans, end - (fewer - ofEquals)), end, runs)
  }

  private def placeAfter(coordinate: Long, from: Int, until: Int): Int =
    if (coordinate == Long.MaxValue) until
    else KeyRange.atLeast(leadPoints, coordinate + 1, from, until)

  /**
   * Adds the points above the center. The last ones of points with equal coordinates are preferred,
   * but the points until `above` may be the first ones of these.
   */
  private def addAbove(box: Int, middle: Int, above: Int, last: Int, runs: RunBatch): Unit =
    if (middle < above) {
      val coordinate = leadPoints(above - 1)
      val tied = KeyRange.atLeast(leadPoints, coordinate, middle, above)
      val end = placeAfter(coordinate, above, last)
      addRun(box, middle, tied, runs)
      addRun(box, end - (above - tied), end, runs)
    }

  private def addRun(box: Int, from: Int, until: Int, runs: RunBatch): Unit =
    if (from < until) runs.add(box, from, until - from)
}

private object LimitedSearch {
  private val NaN = EndpointEncoding.ofDouble(Double.NaN)
}
