// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/**
 * The interval that the current box admits on an axis, both ends inclusive. The object is mutable:
 * [[read]] moves it to another box.
 */
final class AxisInterval(axis: Axis) extends Serializable {
  private val (lowerEndpoint, lowerIsStrict) =
    axis.lower.fold((-1, false))(b => (b.endpoint, b.strict))
  private val (upperEndpoint, upperIsStrict) =
    axis.upper.fold((-1, false))(b => (b.endpoint, b.strict))
  var least: Long = Long.MinValue
  var most: Long = Long.MaxValue

  def isEmpty: Boolean = least > most

  def contains(point: Long): Boolean = least <= point && point <= most

  /** Moves to the box whose endpoints the function returns, by their index. */
  def read(endpoint: Int => Long): Unit = {
    least = Long.MinValue
    most = Long.MaxValue
    var isBeyond = false // a strict bound at the end of the LONGs admits no value
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
