// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.functions.distances.PlusMonths
import org.apache.spark.sql.types.{DataType, DateType}

/**
 * Ends of windows that are months long, by Spark's own `+`: a day that the month does not have is its
 * last one, and the time of day stays, in the time zone of the session.
 *
 * @param dataType of starts and ends, dates or timestamps
 */
private[temporal] case class CalendarMonths(dataType: DataType) {

  private val zone = Some(SQLConf.get.sessionLocalTimeZone)

  /** The end, as a number, that is so many months after a start; beyond the last value, unbounded. */
  def after(start: Expression, months: Int): Expression = asEnd(plus(start, Literal(months)))

  /**
   * The end, as a number, of the window that a start is in: of windows of so many months beside each
   * other, of which one begins at the origin, or with the year 1970.
   */
  def windowEnd(start: Expression, months: Int, origin: Option[Expression]): Expression = {
    val zero = Cast(origin.getOrElse(Literal(0, DateType)), dataType, zone)
    val since = minus(monthOf(start), monthOf(zero))
    val whole = minus(since, Pmod(since, Literal(months)))
    // In the month of the start, or before it; where it is later than the start, it is the end.
    val near = plus(zero, whole)
    val next = plus(zero, Add(whole, Literal(months), EvalMode.LEGACY))
    asEnd(If(GreaterThan(near, start), near, next))
  }

  private def asEnd(value: Expression): Expression = PeriodEndpoint(TryEval(value), isEnd = true)

  private def plus(start: Expression, months: Expression): Expression =
    PlusMonths(start, MakeYMInterval(Literal(0), months), zone)

  private def minus(a: Expression, b: Expression): Expression = Subtract(a, b, EvalMode.LEGACY)

  /** Months since the year 0. */
  private def monthOf(instant: Expression): Expression = {
    val day = Cast(instant, DateType, zone)
    Add(Multiply(Year(day), Literal(12), EvalMode.LEGACY), Month(day), EvalMode.LEGACY)
  }
}
