// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.intervalsweep.condition.model.{AxisInterval, LeftSide, Sweep}
import org.apache.spark.sql.intervalsweep.execution.index.MinMaxIndex
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows

/**
 * The pairs of one sweep, one after the other: for each box the points of its key that lie in it. Of
 * its run of points those of blocks that have none in the second extent are passed over.
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

  /** The rows of the pair. */
  def left: Int = if (isLeftBoxes) box else point
  def right: Int = if (isLeftBoxes) point else box

  /** Goes on to the next pair. */
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

  /** From a point that may be outside of the second extent to one that is within. */
  private def pass(): Unit = {
    val (least, most) = (second.least, second.most)
    var isFound = false
    while (!isFound && point < end) {
      if ((point & (MinMaxIndex.Size - 1)) == 0) point = blocks.skip(point, end, least, most)
      // To the end of the block, or of the run.
      val stop = math.min(end, (point | (MinMaxIndex.Size - 1)) + 1)
      while (!isFound && point < stop) {
        val value = secondPoints(point)
        if (least <= value && value <= most) isFound = true else point += 1
      }
    }
  }
}
