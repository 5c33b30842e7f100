// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/** The extent of one box after the other on an axis, both ends inclusive. */
final class AxisInterval(axis: Axis) extends Serializable {
  private val (lowerEndpoint, lowerIsStrict) =
    axis.lower.fold((-1, false))(b => (b.endpoint, b.strict))
  private val (upperEndpoint, upperIsStrict) =
    axis.upper.fold((-1, false))(b => (b.endpoint, b.strict))
  var least: Long = Long.MinValue
  var most: Long = Long.MaxValue

  def isEmpty: Boolean = least > most

  def contains(point: Long): Boolean = least <= point && point <= most

  /** Takes the box with these endpoints, by index. */
  def read(endpoint: Int => Long): Unit = {
    least = Long.MinValue
    most = Long.MaxValue
    var isBeyond = false // a bound that no value of the type is beyond
    if (lowerEndpoint >= 0) {
      least = endpoint(lowerEndpoint)
      if (lowerIsStrict) { isBeyond = least == Long.MaxValue; least += 1 }
    }
    if (upperEndpoint >= 0) {
      most = endpoint(upperEndpoint)
      if (upperIsStrict) { isBeyond ||= most == Long.MinValue; most -= 1 }
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
