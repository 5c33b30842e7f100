// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

/**
 * Reads the keys and the numbers of one row after another.
 *
 * @param limits the section of time that the task processes; periods are clipped to it
 */
private[periods] final class KeyDictionary(settings: PeriodSettings, limits: (Long, Long)) {
  private val keysOf = UnsafeProjection.create(settings.keys, settings.input)
  private val numbersOf = UnsafeProjection.create(settings.columns, settings.input)
  private val areFractions = settings.columns.map(_.dataType == DoubleType).toArray
  private var numbers: UnsafeRow = _

  /** The keys of a row; the object may be reused for every row. */
  def keys(row: InternalRow): UnsafeRow = keysOf(row)

  /** Takes a row. [[number]] then gives its start, its end, and its other numbers. */
  def take(row: InternalRow): Unit = numbers = numbersOf(row)

  val number: Int => Long = {
    case 0 => math.max(numbers.getLong(0), limits._1)
    case 1 => math.min(numbers.getLong(1), limits._2)
    case k if areFractions(k) => java.lang.Double.doubleToRawLongBits(numbers.getDouble(k))
    case k => numbers.getLong(k)
  }
}
