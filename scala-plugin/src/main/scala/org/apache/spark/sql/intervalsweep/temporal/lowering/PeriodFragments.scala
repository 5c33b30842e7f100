// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Generate, Project}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, EncodedEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  FragmentKind, History, OnBounded, Period, PeriodRule, PeriodSweep, SweepInput, TemporalErrors,
  TemporalFragments
}
import org.apache.spark.sql.types._

/**
 * Windows, which set the end of each row; split, which cuts a row's period into fragments of limited
 * length; and coalesce up to a length.
 */
private[temporal] case class PeriodFragments(dataType: DataType) {
  import PeriodFragments.plus

  def history(fragments: TemporalFragments, below: History): History = {
    val rows = below.bounded(dataType)
    fragments.how match {
      case FragmentKind.Coalesce(length) =>
        checkConstant(length)
        val rule = PeriodRule.CoalesceUpTo(units(length, "max_length"))
        PeriodSweep.history(rule, Seq(SweepInput.left(rows)), rows.values, dataType)
      case FragmentKind.Split(length) =>
        checkConstant(length)
        split(rows, units(length, "max_length"))
      case FragmentKind.Sliding(length, onBounded) =>
        windowed(rows, onBounded, slidingEnd(rows.period.get, length))
      case FragmentKind.Fixed(length, origin, onBounded) =>
        windowed(rows, onBounded, fixedEnd(rows.period.get, length, origin))
    }
  }

  private def checkConstant(length: Expression): Unit =
    if (isOfMonths(length))
      refuse(length, "max_length", "a number of days, as months differ in length")

  private def slidingEnd(period: Period, length: Expression): Expression =
    if (isOfMonths(length)) months.after(period.start, units(length, "sliding").toInt)
    else plus(period.from, Literal(units(length, "sliding")))

  private def fixedEnd(
      period: Period,
      length: Expression,
      origin: Option[Expression]): Expression =
    if (isOfMonths(length)) months.windowEnd(period.start, units(length, "fixed").toInt, origin)
    else {
      val zero = origin.fold[Expression](Literal(0L))(o => EncodedEndpoint(Cast(o, dataType)))
      val window = Literal(units(length, "fixed"))
      // Pmod is the remainder of floor division, so it is not negative before the origin.
      val since = Pmod(Subtract(period.from, zero, EvalMode.ANSI), window)
      plus(period.from, Subtract(window, since, EvalMode.ANSI))
    }

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
    def raise(name: String, what: String): Expression =
      Cast(RaiseError(Literal(TemporalErrors.text(name, what))), BooleanType)
    val noStart = raise(
      "BOUNDED",
      "A window begins at the first instant of a row, but a row has no start: remove such rows.")
    val bounded = raise(
      "BOUNDED",
      "A row has an end already: set on_bounded => 'replace' to replace it by the window's end.")
    val checks = If(IsNull(period.start), noStart, Literal.TrueLiteral) +:
      (onBounded match {
        case OnBounded.Replace => Nil
        case OnBounded.Error => Seq(If(IsNull(period.end), Literal.TrueLiteral, bounded))
      })
    History.of(
      Filter(checks.reduce(And), Project(rows.columns, rows.plan)),
      rows.values,
      period.start,
      DecodedEndpoint(end, dataType))
  }

  private def split(rows: History, length: Long): History = {
    val period = rows.period.get
    val endless = Cast(
      RaiseError(Literal(TemporalErrors.text(
        "LENGTH",
        "A period without a start or an end cannot be split: remove such rows, or mark the " +
          "relation with nulls => 'drop'."))),
      BooleanType)
    val bounded =
      Filter(
        If(Or(IsNull(period.start), IsNull(period.end)), endless, Literal.TrueLiteral),
        Project(rows.columns, rows.plan))
    // The last start is before the end, so there is at least one fragment.
    val starts = new Sequence(
      period.from,
      Subtract(period.to, Literal(1L), EvalMode.ANSI),
      Literal(length))
    val start = AttributeReference("fragment", LongType, nullable = false)()
    val fragments = Generate(Explode(starts), Nil, outer = false, None, Seq(start), bounded)
    val end = Least(Seq(plus(start, Literal(length)), period.to))
    History.ofNumbers(fragments, rows.values, Seq(start, end), dataType)
  }

  /** A length in the unit of the periods' LONGs, or in months. It is greater than 0. */
  private def units(length: Expression, name: String): Long = {
    def wrong(wanted: String): Nothing = refuse(length, name, wanted)
    def value(e: Expression): Long = Option(e.eval()).fold(wrong("a length that is not NULL"))(
      _.asInstanceOf[Number].longValue)
    val number = (dataType, length.dataType) match {
      case (_: IntegralType, _: IntegralType) => value(Cast(length, LongType))
      case (DateType, _: IntegralType) => value(Cast(length, LongType))
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
      case _ => wrong("periods of whole numbers, dates or timestamps")
    }
    if (number <= 0) wrong("a length of more than 0")
    number
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
