// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.intervalsweep.condition.Sweep
import org.apache.spark.sql.intervalsweep.execution.runs.Extent

/**
 * The pairs of one sweep, one after the other: for each box the points of its key that lie in it.
 * Points are in order of key and lead coordinate; those of other blocks than may lie in the second
 * extent are passed over.
 */
final class PairSearch(val sweep: Sweep, boxes: IndexedRows, points: IndexedRows) {
  private val lead = new Extent(sweep.lead)
  private val second = sweep.second.map(new Extent(_)).orNull
  private val leadPoints = points.endpoints(sweep.lead.point)
  private val secondPoint = sweep.second.map(_.point)
  private val secondPoints = secondPoint.map(points.endpoints(_)).orNull
  private val blocks = secondPoint.map(points.blocks).orNull
  private var end = 0
  private val endpointOf: Int => Long = slot => boxes.endpoints(slot)(box)

  var box: Int = -1
  var point: Int = 0

  /** Goes on to the next pair, `box` and `point`. */
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
    val key = boxes.keys(box)
    lead.read(endpointOf)
    point = 0
    end = 0
    if (!lead.isEmpty) {
      val first = firstAtLeast(key, lead.least, 0)
      val last = firstAbove(key, lead.most, first)
      if (first < last) {
        point = first
        end = last
        if (second != null) {
          second.read(endpointOf)
          if (second.isEmpty) point = end else pass()
        }
      }
    }
  }

  /** From a point that may be outside of the second extent to one that is within. */
  private def pass(): Unit = {
    val (least, most) = (second.least, second.most)
    var isFound = false
    while (!isFound && point < end) {
      if ((point & (Blocks.Size - 1)) == 0) point = blocks.skip(point, end, least, most)
      // To the end of the block, or of the run.
      val stop = math.min(end, (point | (Blocks.Size - 1)) + 1)
      while (!isFound && point < stop) {
        val value = secondPoints(point)
        if (least <= value && value <= most) isFound = true else point += 1
      }
    }
  }

  private def firstAtLeast(key: Long, value: Long, start: Int): Int = {
    var from = start
    var until = points.size
    while (from < until) {
      val middle = (from + until) >>> 1
      val k = points.keys(middle)
      if (k < key || k == key && leadPoints(middle) < value) from = middle + 1 else until = middle
    }
    from
  }

  private def firstAbove(key: Long, value: Long, start: Int): Int = {
    var from = start
    var until = points.size
    while (from < until) {
      val middle = (from + until) >>> 1
      val k = points.keys(middle)
      if (k < key || k == key && leadPoints(middle) <= value) from = middle + 1 else until = middle
    }
    from
  }
}
