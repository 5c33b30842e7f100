// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import java.lang.Double.{doubleToLongBits, longBitsToDouble}

/** Maps doubles to LONGs in the same order, and back. */
object OrderedDoubles {

  /**
   * The LONG of a double. The bits of positive doubles are in the order of the doubles, and the
   * bits of negative doubles in the opposite order. -0.0 has the LONG of 0.0. All NaNs have one
   * LONG, above that of infinity. No double has the smallest or the largest LONG.
   */
  def toLong(value: Double): Long = if (value == 0.0) 0L else flipped(doubleToLongBits(value))

  def toDouble(number: Long): Double = longBitsToDouble(flipped(number))

  private def flipped(bits: Long): Long = if (bits >= 0) bits else bits ^ Long.MaxValue
}
