// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.intervalsweep.condition.model.{AxisInterval, LeftSide, Sweep}
import org.apache.spark.sql.intervalsweep.execution.index.MinMaxIndex
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows

/**
 * Finds the pairs of one sweep, one at a time: for each box, the points of its key that lie in it.
 * The points of a box are a run on the lead axis. Blocks of this run without a point in the box's
 * interval on the second axis are skipped.
 *
 * Cost per box: O(log n) to find the run, plus at most one step per point of the run. A min-max
 * index skips blocks of 16, 256 and so on points at once.
 */
final class BoxProbe(sweep: Sweep, leftRows: SortedRows, rightRows: SortedRows) {
  private val isLeftBoxes = sweep.boxes == LeftSide
  private val (boxes, points) = if (isLeftBoxes) (leftRows, rightRows) else (rightRows, leftRows)
  private val run = new LeadAxisLookup(sweep.lead, boxes, points)
  private val second = sweep.second.map(new AxisInterval(_)).orNull
  private val secondPoint = sweep.second.map(_.point)
  private val secondPoints = secondPoint.map(points.endpoints(_)).orNull
  private val blocks = secondPoint.map(points.blocks).orNull
  private var end = 0
  private val endpointOf: Int => Long = i => boxes.endpoints(i)(box)

  private var box = -1
  private var point = 0

  /** The rows of the current pair. */
  def left: Int = if (isLeftBoxes) box else point
  def right: Int = if (isLeftBoxes) point else box

  /** Moves to the next pair; false if there is none. */
  def next(): Boolean = {
    point += 1
    if (point < end && second != null) pass()
    while (point >= end && box < boxes.size) {
      box += 1
      if (box < boxes.size) open()
    }
    point < end
  }

  private def open(): Unit = {
    run.read(box)
    point = run.first
    end = run.end
    if (point < end && second != null) {
      second.read(endpointOf)
      if (second.isEmpty) point = end else pass()
    }
  }

  /** Moves from the current point on to the next point within the interval on the second axis. */
  private def pass(): Unit = {
    val (least, most) = (second.least, second.most)
    var isFound = false
    while (!isFound && point < end) {
      if ((point & (MinMaxIndex.Size - 1)) == 0) point = blocks.skip(point, end, least, most)
      // Up to the end of the block, or of the run.
      val stop = math.min(end, (point | (MinMaxIndex.Size - 1)) + 1)
      while (!isFound && point < stop) {
        val value = secondPoints(point)
        if (least <= value && value <= most) isFound = true else point += 1
      }
    }
  }
}
