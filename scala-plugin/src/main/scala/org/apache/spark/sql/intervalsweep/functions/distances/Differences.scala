// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import java.math.{BigDecimal => JBigDecimal, BigInteger, RoundingMode}

import org.apache.spark.sql.types.Decimal

/**
 * The arithmetic of [[DifferenceAtMost]] and [[WholeUnits]], for interpreted and generated code.
 */
object Differences {

  /** `later - earlier <= limit`, without overflow. */
  def atMost(later: Long, earlier: Long, limit: Long): Boolean = {
    val difference = later - earlier
    val overflown = ((later ^ earlier) & (later ^ difference)) < 0
    // A difference that overflows is below all limits, or above all of them.
    if (overflown) later < earlier else difference <= limit
  }

  /**
   * `later - earlier <= limit`, with the difference rounded to a DOUBLE as in Spark's `-`. A
   * difference that is NaN or infinite exceeds every limit. So the limits NaN and infinity admit
   * all finite differences.
   */
  def atMost(later: Double, earlier: Double, limit: Double): Boolean = {
    val difference = later - earlier
    java.lang.Double.isFinite(difference) && (difference <= limit || limit.isNaN)
  }

  def atMost(later: Decimal, earlier: Decimal, limit: Decimal): Boolean =
    minus(later, earlier).compareTo(limit.toJavaBigDecimal) <= 0

  def atMost(later: Decimal, earlier: Decimal, limit: Double): Boolean =
    if (java.lang.Double.isFinite(limit)) minus(later, earlier).compareTo(new JBigDecimal(limit)) <=
      0
    else limit.isNaN || limit > 0

  // Decimal's own `-` rounds to 34 digits.
  private def minus(later: Decimal, earlier: Decimal): JBigDecimal =
    later.toJavaBigDecimal.subtract(earlier.toJavaBigDecimal)

  /** The largest LONG `n` with `n <= value * 10^scale`. The smallest LONG if there is none. */
  def floor(value: Decimal, scale: Int): Long = floor(value.toJavaBigDecimal, scale)

  def floor(value: Long, scale: Int): Long = floor(JBigDecimal.valueOf(value), scale)

  /** The same for a DOUBLE. NaN is larger than all numbers, as in Spark's order. */
  def floor(value: Double, scale: Int): Long =
    if (java.lang.Double.isFinite(value)) floor(new JBigDecimal(value), scale)
    else if (value < 0) Long.MinValue
    else Long.MaxValue

  private val Smallest = BigInteger.valueOf(Long.MinValue)
  private val Largest = BigInteger.valueOf(Long.MaxValue)

  private def floor(value: JBigDecimal, scale: Int): Long =
    value.movePointRight(scale).setScale(0, RoundingMode.FLOOR).toBigInteger
      .max(Smallest).min(Largest).longValueExact
}
