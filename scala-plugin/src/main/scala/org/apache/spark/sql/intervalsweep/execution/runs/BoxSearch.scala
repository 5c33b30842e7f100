// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import org.apache.spark.sql.intervalsweep.condition.model.{AxisInterval, Sweep}
import org.apache.spark.sql.intervalsweep.execution.index.{KeyRange, MinMaxIndex, SortedPoints}

/**
 * Finds the matches of one box after another, in one sweep. Points are sorted by key and lead
 * coordinate, so those of a box's key within its interval on the lead axis are one run. The second
 * axis leaves parts of it:
 * {{{
 *   points by lead coordinate   .....|xxxxxxxxxxxxxxxxxxxx|......     on the lead axis
 *   second axis                       xxx----xxxxxxxxx---x            three runs
 * }}}
 * Cost per box: O(log n) on the lead axis. With a second axis, at most one step per point on the
 * lead axis; a min-max index, if there is one, skips blocks of 16, 256 and so on points at once.
 *
 * @param keys  the points with the key of a box
 * @param range clips the lead axis: the range of the task, if the join is by ranges
 */
final class BoxSearch(
    sweep: Sweep,
    boxes: SortedPoints,
    points: SortedPoints,
    keys: KeyRange,
    range: Option[(Long, Long)] = None) {
  private val lead = new AxisInterval(sweep.lead)
  private val leadPoints = points.endpoints(sweep.lead.point)
  private val second = sweep.second.map(new AxisInterval(_)).orNull
  private val secondPoints = sweep.second.map(axis => points.endpoints(axis.point)).orNull
  private val blocks = sweep.second.map(axis => points.minMax(axis.point)).orNull
  private val (low, high) = range.getOrElse((Long.MinValue, Long.MaxValue))
  private var box = 0
  private val endpointOf: Int => Long = endpoint => boxes.endpoints(endpoint)(box)

  /** The points of the box on the lead axis: the rows from `first` until `end`. */
  var first: Int = 0
  var end: Int = 0

  /** Moves to a box and finds its points on the lead axis. */
  def read(number: Int): Unit = {
    box = number
    lead.read(endpointOf)
    lead.clip(low, high)
    keys.read(number)
    if (lead.isEmpty) end = first
    else {
      first = KeyRange.atLeast(leadPoints, lead.least, keys.first, keys.end)
      end =
        if (lead.most == Long.MaxValue) keys.end
        else KeyRange.atLeast(leadPoints, lead.most + 1, first, keys.end)
    }
  }

  /**
   * Adds the runs of points in a box; returns the number of its points on the lead axis.
   *
   * @param firstOnly whether one run is enough
   */
  def find(number: Int, runs: RunBatch, firstOnly: Boolean): Int = {
    read(number)
    if (first < end)
      if (second == null) runs.add(box, first, end - first) else filter(runs, firstOnly)
    end - first
  }

  /** The box's interval on the second axis. */
  def secondInterval: AxisInterval = {
    second.read(endpointOf)
    second
  }

  /** Adds the runs that the second axis leaves. */
  private def filter(runs: RunBatch, firstOnly: Boolean): Unit = {
    val within = secondInterval
    var point = if (within.isEmpty) end else next(first)
    while (point < end) {
      val start = point
      while (point < end && within.contains(secondPoints(point))) point += 1
      runs.add(box, start, point - start)
      point = if (firstOnly) end else next(point)
    }
  }

  /** The first point from `from` on within the interval on the second axis, or `end`. */
  private def next(from: Int): Int = {
    var point = from
    while (point < end && !second.contains(secondPoints(point))) {
      point += 1
      if (blocks != null && (point & (MinMaxIndex.Size - 1)) == 0)
        point = blocks.skip(point, end, second.least, second.most)
    }
    point
  }
}
