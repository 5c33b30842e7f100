// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.intervalsweep.condition.model.{Axis, AxisInterval}
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows

/**
 * Finds, for one box after the other, the points of its key within its interval on the lead axis.
 * Points are sorted by key and lead coordinate, so these are one run, from `first` until `end`.
 * Each box takes two binary searches: O(log n).
 */
private[streams] final class LeadAxisLookup(axis: Axis, boxes: SortedRows, points: SortedRows) {
  private val extent = new AxisInterval(axis)
  private val coordinates = points.endpoints(axis.point)
  private var box = -1
  private val endpointOf: Int => Long = i => boxes.endpoints(i)(box)

  var first: Int = 0
  var end: Int = 0

  def read(number: Int): Unit = {
    box = number
    extent.read(endpointOf)
    val key = boxes.keys(box)
    first = if (extent.isEmpty) 0 else place(key, extent.least, isBehind = false, 0)
    end = if (extent.isEmpty) 0 else place(key, extent.most, isBehind = true, first)
  }

  /** The place of a value of a key, from `start` on: before all points with it, or behind them. */
  private def place(key: Long, value: Long, isBehind: Boolean, start: Int): Int = {
    var from = start
    var until = points.size
    while (from < until) {
      val middle = (from + until) >>> 1
      val k = points.keys(middle)
      val found = coordinates(middle)
      if (k < key || k == key && (found < value || isBehind && found == value)) from = middle + 1
      else until = middle
    }
    from
  }
}
