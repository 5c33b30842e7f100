// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Generate, Project}
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, EncodedEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  FragmentKind, History, OnBounded, Period, TemporalErrors, TemporalFragments
}
import org.apache.spark.sql.types._

/** Windows, which say when a row ends, and split, which cuts its period into short ones. */
private[temporal] case class PeriodFragments(dataType: DataType) {
  import PeriodFragments.plus

  def history(fragments: TemporalFragments, below: History): History = {
    val rows = below.bounded(dataType)
    fragments.how match {
      case FragmentKind.Split(length) =>
        if (isOfMonths(length)) refuse(length, "max_length", "days, for months differ in length")
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
    if (isOfMonths(length)) months.windowEnd(period.start, units(length, "fixed").toInt, origin)
    else {
      val zero = origin.fold[Expression](Literal(0L))(o => EncodedEndpoint(Cast(o, dataType)))
      val window = Literal(units(length, "fixed"))
      // The rest is that of a floor division: not negative.
      val since = Pmod(Subtract(period.from, zero, EvalMode.ANSI), window)
      plus(period.from, Subtract(window, since, EvalMode.ANSI))
    }

  private def months = CalendarMonths(dataType)

  /** Whether it is of months of the calendar, which are not all as long as each other. */
  private def isOfMonths(length: Expression): Boolean = (dataType, length.dataType) match {
    case (_: DatetimeType, _: YearMonthIntervalType) => true
    case _ => false
  }

  /** Row by row a new end, which has to come after the start. */
  private def windowed(rows: History, onBounded: OnBounded, end: Expression): History = {
    val period = rows.period.get
    def raise(name: String, what: String): Expression =
      Cast(RaiseError(Literal(TemporalErrors.text(name, what))), BooleanType)
    val noStart = raise("BOUNDED", "A window needs the first instant of a row, and a row has none.")
    val bounded = raise(
      "BOUNDED",
      "A window over a row that has an end: say on_bounded => 'replace' to give it the window's.")
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
        "A period without a start or an end cannot be split: restrict it by a WHERE, or mark the " +
          "relation with nulls => 'drop'."))),
      BooleanType)
    val bounded =
      Filter(
        If(Or(IsNull(period.start), IsNull(period.end)), endless, Literal.TrueLiteral),
        Project(rows.columns, rows.plan))
    // The last start is before the end, so that there is at least one.
    val starts = new Sequence(
      period.from,
      Subtract(period.to, Literal(1L), EvalMode.ANSI),
      Literal(length))
    val start = AttributeReference("fragment", LongType, nullable = false)()
    val fragments = Generate(Explode(starts), Nil, outer = false, None, Seq(start), bounded)
    val end = Least(Seq(plus(start, Literal(length)), period.to))
    History.ofNumbers(fragments, rows.values, Seq(start, end), dataType)
  }

  /** A length in the units in which periods are numbers, or in months; more than none. */
  private def units(length: Expression, name: String): Long = {
    def wrong(wanted: String): Nothing = refuse(length, name, wanted)
    def value(e: Expression): Long = Option(e.eval()).fold(wrong("a length that is not NULL"))(
      _.asInstanceOf[Number].longValue)
    val number = (dataType, length.dataType) match {
      case (_: IntegralType, _: IntegralType) => value(Cast(length, LongType))
      case (DateType, _: IntegralType) => value(Cast(length, LongType))
      case (DateType, _: DayTimeIntervalType) =>
        val micros = value(length)
        if (micros % PeriodFragments.Day != 0) wrong("whole days")
        micros / PeriodFragments.Day
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
      s"$name is ${length.sql}, a ${length.dataType.sql}, and the periods are " +
        s"${dataType.sql}: give $wanted.")
}

private[temporal] object PeriodFragments {

  /** What is beyond the last number is the last one: unbounded. */
  def plus(start: Expression, length: Expression): Expression = If(
    GreaterThan(start, Subtract(Literal(Long.MaxValue), length, EvalMode.LEGACY)),
    Literal(Long.MaxValue),
    Add(start, length, EvalMode.LEGACY))

  val Day: Long = 24L * 60 * 60 * 1000 * 1000
}
