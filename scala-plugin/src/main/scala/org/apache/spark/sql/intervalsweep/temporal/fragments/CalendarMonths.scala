// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.functions.distances.PlusMonths
import org.apache.spark.sql.types.{DataType, DateType}

/**
 * The ends of windows that are months long, computed by Spark's own `+`. A day that the month does
 * not have becomes the month's last day. The time of day stays the same in the time zone of the
 * session.
 *
 * @param dataType the type of starts and ends, dates or timestamps
 */
private[temporal] case class CalendarMonths(dataType: DataType) {

  private val zone = Some(SQLConf.get.sessionLocalTimeZone)

  /**
   * The end, as a number, so many months after a start. It is unbounded beyond the type's last
   * value.
   */
  def after(start: Expression, months: Int): Expression = asEnd(plus(start, Literal(months)))

  /**
   * The end, as a number, of the window that contains a start. Windows are so many months long and
   * follow one another. One of them begins at the origin, which is 1970-01-01 by default.
   */
  def windowEnd(start: Expression, months: Int, origin: Option[Expression]): Expression = {
    val zero = origin.getOrElse(Cast(Literal(0, DateType), dataType, zone))
    val since = minus(monthOf(start), monthOf(zero))
    val whole = minus(since, Pmod(since, Literal(months)))
    // The first of the ends is in the month of the start or earlier.
    // The third window is the one if the clock is set back at the end of the second.
    val ends = Seq(0, 1, 2).map { n =>
      asEnd(plus(zero, Add(whole, Literal(n * months), EvalMode.LEGACY)))
    }
    PeriodArithmetic.firstAfter(PeriodEndpoint(start, isEnd = false), ends)
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
