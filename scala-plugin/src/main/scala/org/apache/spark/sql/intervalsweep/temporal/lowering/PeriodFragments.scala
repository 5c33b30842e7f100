// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Generate
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, EncodedEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  FragmentKind, GivenBound, History, OnBounded, Period, TemporalErrors, TemporalFragments
}
import org.apache.spark.sql.types._

/**
 * Windows, which set the end of each row, and split, which cuts a row's period into fragments of
 * limited length.
 */
private[temporal] case class PeriodFragments(dataType: DataType) {
  import PeriodFragments.plus

  def history(fragments: TemporalFragments, below: History): History = {
    val rows = below.bounded(dataType)
    fragments.how match {
      case FragmentKind.Split(length) =>
        if (isOfMonths(length))
          refuse(length, "max_length", "a number of days, as months differ in length")
        split(rows, units(length, "max_length"))
      case FragmentKind.Sliding(length, onBounded) =>
        windowed(rows, onBounded, slidingEnd(rows.period.get, length))
      case FragmentKind.Fixed(length, origin, onBounded) =>
        windowed(rows, onBounded, fixedEnd(rows.period.get, length, origin))
    }
  }

  private def slidingEnd(period: Period, length: Expression): Expression =
    if (isOfMonths(length)) months.after(period.start, units(length, "sliding").toInt)
    else plus(period.from, Literal(units(length, "sliding")))

  private def fixedEnd(
      period: Period,
      length: Expression,
      origin: Option[Expression]): Expression =
    if (isOfMonths(length))
      months.windowEnd(period.start, units(length, "fixed").toInt, origin.map(typedOrigin))
    else {
      val zero = origin.fold[Expression](Literal(0L))(o => EncodedEndpoint(typedOrigin(o)))
      val window = Literal(units(length, "fixed"))
      // Pmod is the remainder of floor division, so it is not negative before the origin. The
      // difference of two remainders cannot overflow.
      val since = Pmod(minus(Pmod(period.from, window), Pmod(zero, window)), window)
      plus(period.from, minus(window, since))
    }

  private def typedOrigin(origin: Expression): Expression =
    GivenBound("temporal_window", "origin", dataType).typed(origin)

  private def minus(a: Expression, b: Expression): Expression = Subtract(a, b, EvalMode.LEGACY)

  private def months = CalendarMonths(dataType)

  /** Whether the length is in calendar months, whose lengths differ. */
  private def isOfMonths(length: Expression): Boolean = (dataType, length.dataType) match {
    case (_: DatetimeType, _: YearMonthIntervalType) => true
    case _ => false
  }

  /**
   * Gives each row a new end. A row without a start is an error; a row with an end is one if
   * `onBounded` says so.
   */
  private def windowed(rows: History, onBounded: OnBounded, end: Expression): History = {
    val period = rows.period.get
    val noStart = raise(
      "BOUNDED",
      "A window begins at the first instant of a row, but a row has no start: remove such rows.")
    val bounded = raise(
      "BOUNDED",
      "A row has an end already: set on_bounded => 'replace' to replace it by the window's end.")
    val allowed = onBounded match {
      case OnBounded.Replace => end
      case OnBounded.Error => If(IsNull(period.end), end, bounded)
    }
    val checked = If(IsNull(period.start), noStart, allowed)
    History.of(rows.plan, rows.values, period.start, DecodedEndpoint(checked, dataType))
  }

  /**
   * An error in place of a LONG. The check and the value that it protects are one expression: the
   * optimizer moves filters, and evaluates constants before any filter.
   */
  private def raise(name: String, what: String): Expression =
    Cast(RaiseError(Literal(TemporalErrors.text(name, what))), LongType)

  private def split(rows: History, length: Long): History = {
    val period = rows.period.get
    val endless = raise(
      "LENGTH",
      "A period without a start or an end cannot be split: limit it first by sequenced(TABLE(q), " +
        "period => array(a, b)), and split the result by temporal_split(TABLE(...), max_length, " +
        "ts => 'ts', te => 'te').")
    val from = If(Or(IsNull(period.start), IsNull(period.end)), endless, period.from)
    val ends = Seq("start", "end").map(AttributeReference(_, LongType, nullable = false)())
    val fragments = FragmentRows(from, period.to, length)
    val generated = Generate(fragments, Nil, outer = false, None, ends, rows.plan)
    History.ofNumbers(generated, rows.values, ends, dataType)
  }

  /** A length in the unit of the periods' LONGs, or in months. It is greater than 0. */
  private def units(length: Expression, name: String): Long = {
    def wrong(wanted: String): Nothing = refuse(length, name, wanted)
    def value(e: Expression): Long = Option(e.eval()).fold(wrong("a length that is not NULL"))(
      _.asInstanceOf[Number].longValue)
    val number = (dataType, length.dataType) match {
      case (_: IntegralType, _: IntegralType) => value(Cast(length, LongType))
      case (DateType, _: IntegralType) => value(Cast(length, LongType))
      case (d: DecimalType, _: IntegralType | _: DecimalType) =>
        exactUnits(length, d.scale).getOrElse(wrong(s"a multiple of ${BigDecimal(1, d.scale)}"))
      case (DateType, _: DayTimeIntervalType) =>
        val micros = value(length)
        if (micros % MICROS_PER_DAY != 0) wrong("whole days")
        micros / MICROS_PER_DAY
      case (TimestampType | TimestampNTZType, _: DayTimeIntervalType) => value(length)
      case (_: DayTimeIntervalType, _: DayTimeIntervalType) => value(length)
      case (_: DatetimeType | _: YearMonthIntervalType, _: YearMonthIntervalType) =>
        value(length)
      case (_: IntegralType, _) => wrong("a whole number")
      case (DateType, _) => wrong("a whole number of days, or an INTERVAL of days or of months")
      case (TimestampType | TimestampNTZType, _) =>
        wrong("an INTERVAL DAY TO SECOND or YEAR TO MONTH")
      case (_: DecimalType, _) => wrong("a whole number or a DECIMAL")
      case _ => wrong("periods of whole numbers, decimals, dates or timestamps")
    }
    if (number <= 0) wrong("a length of more than 0")
    number
  }

  /** A number in units of 10^-scale, if that is exact. */
  private def exactUnits(length: Expression, scale: Int): Option[Long] = {
    val units = BigDecimal(Option(length.eval()).fold("0")(_.toString)) * BigDecimal(10).pow(scale)
    Option.when(units.isWhole && units.isValidLong)(units.toLongExact)
  }

  private def refuse(length: Expression, name: String, wanted: String): Nothing =
    TemporalErrors.length(
      s"$name is ${length.sql}, a ${length.dataType.sql}, for periods of " +
        s"${dataType.sql}: give $wanted.")
}

private[temporal] object PeriodFragments {

  /** The sum, or the largest LONG, which means unbounded, if the sum exceeds it. */
  def plus(start: Expression, length: Expression): Expression = If(
    GreaterThan(start, Subtract(Literal(Long.MaxValue), length, EvalMode.LEGACY)),
    Literal(Long.MaxValue),
    Add(start, length, EvalMode.LEGACY))

}
