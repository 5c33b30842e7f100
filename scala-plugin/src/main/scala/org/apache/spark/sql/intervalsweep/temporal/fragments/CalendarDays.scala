// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, PeriodEndpoint}
import org.apache.spark.sql.types._

/**
 * The ends of windows that are calendar days long. The time of day stays the same in the time zone
 * of the session, also where a day has 23 or 25 hours: the arithmetic is that of timestamps without
 * a zone.
 *
 * @param dataType the type of starts and ends, dates or timestamps
 */
private[temporal] case class CalendarDays(dataType: DataType) {

  private val zone = Some(SQLConf.get.sessionLocalTimeZone)
  private val isZoned = dataType == TimestampType
  private val unit = if (dataType == DateType) 1L else MICROS_PER_DAY

  /** The end, as a number, so many days after a start. */
  def after(start: Expression, days: Int): Expression =
    zoned(PeriodArithmetic.plus(local(start), Literal(days * unit)))

  /**
   * The end, as a number, of the window that contains a start. Windows of weeks begin on Mondays,
   * unless there is an origin; others begin at 1970-01-01.
   */
  def windowEnd(
      start: Expression,
      length: CalendarLength,
      origin: Option[Expression]): Expression = {
    val window = Literal(length.days * unit)
    val default = Literal(if (length.isOfWeeks) CalendarDays.FirstMonday * unit else 0L)
    val zero = origin.fold[Expression](default)(local)
    val end = PeriodArithmetic.windowEnd(local(start), window, zero)
    if (!isZoned) end
    else {
      // A clock that is set back or forward at the end of a window shows a time of the next window
      // too early, or one of the last window too late.
      val ends =
        Seq(Subtract(end, window, EvalMode.LEGACY), end, PeriodArithmetic.plus(end, window))
      PeriodArithmetic.firstAfter(PeriodEndpoint(start, isEnd = false), ends.map(zoned))
    }
  }

  private def local(instant: Expression): Expression = PeriodEndpoint(
    if (isZoned) Cast(instant, TimestampNTZType, zone) else instant,
    isEnd = false)

  private def zoned(number: Expression): Expression =
    if (!isZoned) number
    else PeriodEndpoint(
      Cast(DecodedEndpoint(number, TimestampNTZType), TimestampType, zone),
      isEnd = true)
}

private[temporal] object CalendarDays {

  /** 1970-01-05, in days. */
  val FirstMonday = 4L
}
