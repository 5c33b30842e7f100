// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalErrors
import org.apache.spark.sql.types._

/** A length in calendar units, whose elapsed time differs. Either the months or the days are 0. */
private[temporal] case class CalendarLength(months: Int, days: Int, isOfWeeks: Boolean = false)

/**
 * A constant length in the call of a table function.
 *
 * @param option   the option that has the length
 * @param dataType the type of the periods
 */
private[temporal] case class PeriodLength(
    length: Expression,
    option: String,
    dataType: DataType) {

  /** Calendar units: an interval of months, or text such as 'DAY' or '2 WEEKS'. */
  def calendar: Option[CalendarLength] = (dataType, length.dataType) match {
    case (_: DatetimeType, _: YearMonthIntervalType) =>
      Some(CalendarLength(months = positive(value(length)).toInt, days = 0))
    case (_: DatetimeType, _: StringType) => Some(ofText(length.eval().toString))
    case _ => None
  }

  private def ofText(text: String): CalendarLength = text.trim.toUpperCase(Locale.ROOT) match {
    case PeriodLength.Units(number, unit) =>
      val n = positive(Option(number).fold(1L)(_.toLong)).toInt
      unit match {
        case "DAY" => CalendarLength(0, n)
        case "WEEK" => CalendarLength(0, Math.multiplyExact(n, 7), isOfWeeks = true)
        case "MONTH" => CalendarLength(n, 0)
        case "QUARTER" => CalendarLength(Math.multiplyExact(n, 3), 0)
        case "YEAR" => CalendarLength(Math.multiplyExact(n, 12), 0)
      }
    case _ => wrong("calendar units such as 'DAY', '2 WEEKS', 'MONTH', 'QUARTER' or 'YEAR'")
  }

  /** A length in the unit of the periods' LONGs. It is greater than 0. */
  def units: Long = positive((dataType, length.dataType) match {
    case (_: IntegralType, _: IntegralType) => value(Cast(length, LongType))
    case (DateType, _: IntegralType) => value(Cast(length, LongType))
    case (d: DecimalType, _: IntegralType | _: DecimalType) =>
      exact(d.scale).getOrElse(wrong(s"a multiple of ${BigDecimal(1, d.scale)}"))
    case (DateType, _: DayTimeIntervalType) =>
      val micros = value(length)
      if (micros % MICROS_PER_DAY != 0) wrong("whole days")
      micros / MICROS_PER_DAY
    case (TimestampType | TimestampNTZType, _: DayTimeIntervalType) => value(length)
    case (_: DayTimeIntervalType, _: DayTimeIntervalType) => value(length)
    case (_: YearMonthIntervalType, _: YearMonthIntervalType) => value(length)
    case (_: IntegralType, _) => wrong("a whole number")
    case (_: DecimalType, _) => wrong("a whole number or a DECIMAL")
    case (DateType, _) => wrong("a whole number of days, or an INTERVAL of days or of months")
    case (TimestampType | TimestampNTZType, _) =>
      wrong("an INTERVAL DAY TO SECOND or YEAR TO MONTH")
    case _ => wrong("periods of whole numbers, decimals, dates or timestamps")
  })

  private def value(e: Expression): Long =
    Option(e.eval()).fold(wrong("a length that is not NULL"))(_.asInstanceOf[Number].longValue)

  /** A number in units of 10^-scale, if that is exact. */
  private def exact(scale: Int): Option[Long] = {
    val units = BigDecimal(Option(length.eval()).fold("0")(_.toString)) * BigDecimal(10).pow(scale)
    Option.when(units.isWhole && units.isValidLong)(units.toLongExact)
  }

  private def positive(number: Long): Long =
    if (number > 0) number else wrong("a length of more than 0")

  private def wrong(wanted: String): Nothing = TemporalErrors.length(
    s"$option is ${length.sql}, a ${length.dataType.sql}, for periods of " +
      s"${dataType.sql}: give $wanted.")
}

private[temporal] object PeriodLength {
  private val Units = "(?:(\\d{1,9})\\s*)?(DAY|WEEK|MONTH|QUARTER|YEAR)S?".r
}
