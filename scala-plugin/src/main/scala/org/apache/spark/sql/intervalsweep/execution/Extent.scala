// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.intervalsweep.condition.Axis

/** The extent of one box after the other on an axis, both ends inclusive. */
final class Extent(axis: Axis) {
  var least: Long = Long.MinValue
  var most: Long = Long.MaxValue

  def isEmpty: Boolean = least > most

  def contains(point: Long): Boolean = least <= point && point <= most

  /** Takes the box whose endpoints are these, by slot. */
  def read(endpoint: Int => Long): Unit = {
    least = Long.MinValue
    most = Long.MaxValue
    var isBeyond = false // a bound that no value of the type is beyond
    if (axis.lower.isDefined) {
      val bound = axis.lower.get
      least = endpoint(bound.slot)
      if (bound.strict) { isBeyond = least == Long.MaxValue; least += 1 }
    }
    if (axis.upper.isDefined) {
      val bound = axis.upper.get
      most = endpoint(bound.slot)
      if (bound.strict) { isBeyond ||= most == Long.MinValue; most -= 1 }
    }
    if (isBeyond) clear()
  }

  def clip(low: Long, high: Long): Unit = {
    least = math.max(least, low)
    most = math.min(most, high)
  }

  private def clear(): Unit = {
    least = 1
    most = 0
  }
}
