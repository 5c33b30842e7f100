// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.expressions.{
  Add, BitwiseAnd, EvalMode, Expression, Literal, ShiftRight
}

/**
 * Exact sums of LONGs as `high * 2^32 + low`. The upper and the lower halves are added separately,
 * so neither sum can overflow.
 */
object Halves {
  final val Bits = 32
  final val Low = 0xffffffffL

  /** -1, 0 or 1 if the number is below, within or above the LONGs. */
  def beyond(high: Long, low: Long): Int = {
    val carried = high + (low >> Bits)
    if (carried < Int.MinValue) -1 else if (carried > Int.MaxValue) 1 else 0
  }

  /** The number, or the smallest or the largest LONG. */
  def saturated(high: Long, low: Long): Long = beyond(high, low) match {
    case 0 => ((high + (low >> Bits)) << Bits) | (low & Low)
    case below if below < 0 => Long.MinValue
    case _ => Long.MaxValue
  }

  /**
   * The sums of the halves of a value, with `low` less than 2^32.
   *
   * @param sum adds up an expression over all rows
   */
  def sums(value: Expression)(sum: Expression => Expression): (Expression, Expression) = {
    val (high, low) = (sum(upper(value)), sum(lower(value)))
    (Add(high, upper(low), EvalMode.LEGACY), lower(low))
  }

  private def upper(e: Expression): Expression = ShiftRight(e, Literal(Bits))
  private def lower(e: Expression): Expression = BitwiseAnd(e, Literal(Low))
}
