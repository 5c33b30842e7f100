// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.expressions._

/** Arithmetic of endpoints as LONGs. No expression can overflow. */
private[temporal] object PeriodArithmetic {

  /** The sum, or the largest LONG, which means unbounded, if the sum exceeds it. */
  def plus(start: Expression, length: Expression): Expression = If(
    GreaterThan(start, Subtract(Literal(Long.MaxValue), length, EvalMode.LEGACY)),
    Literal(Long.MaxValue),
    Add(start, length, EvalMode.LEGACY))

  /** The end of the window that contains a start. Windows follow one another from `origin` on. */
  def windowEnd(start: Expression, length: Literal, origin: Expression): Expression = {
    // Pmod is the remainder of floor division, so it is not negative before the origin. The
    // difference of two remainders cannot overflow.
    val since = Pmod(minus(Pmod(start, length), Pmod(origin, length)), length)
    plus(start, minus(length, since))
  }

  /** The first of several instants in order that is later than a start, else the last. */
  def firstAfter(start: Expression, instants: Seq[Expression]): Expression =
    instants.init.foldRight(instants.last)((instant, later) =>
      If(GreaterThan(instant, start), instant, later))

  private def minus(a: Expression, b: Expression): Expression = Subtract(a, b, EvalMode.LEGACY)
}
