// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.intervalsweep.condition.Axis
import org.apache.spark.sql.intervalsweep.execution.runs.Extent

/**
 * For one box after the other, the points of its key within its extent on the lead axis. They are one
 * run, from `first` until `end`, as points are in order of key and lead coordinate.
 */
private[streams] final class LeadRun(axis: Axis, boxes: IndexedRows, points: IndexedRows) {
  private val extent = new Extent(axis)
  private val coordinates = points.endpoints(axis.point)
  private var box = -1
  private val endpointOf: Int => Long = slot => boxes.endpoints(slot)(box)

  var first: Int = 0
  var end: Int = 0

  def read(number: Int): Unit = {
    box = number
    extent.read(endpointOf)
    val key = boxes.keys(box)
    first = if (extent.isEmpty) 0 else firstAtLeast(key, extent.least)
    end = if (extent.isEmpty) 0 else firstAbove(key, extent.most, first)
  }

  private def firstAtLeast(key: Long, value: Long): Int = {
    var from = 0
    var until = points.size
    while (from < until) {
      val middle = (from + until) >>> 1
      val k = points.keys(middle)
      if (k < key || k == key && coordinates(middle) < value) from = middle + 1 else until = middle
    }
    from
  }

  private def firstAbove(key: Long, value: Long, start: Int): Int = {
    var from = start
    var until = points.size
    while (from < until) {
      val middle = (from + until) >>> 1
      val k = points.keys(middle)
      if (k < key || k == key && coordinates(middle) <= value) from = middle + 1
      else until = middle
    }
    from
  }
}
