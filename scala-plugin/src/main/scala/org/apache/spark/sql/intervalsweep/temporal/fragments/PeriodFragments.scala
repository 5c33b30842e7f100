// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Generate
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, EncodedEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  FragmentKind, GivenBound, History, OnBounded, Period, PeriodRule, PeriodSweep, SweepInput,
  TemporalErrors, TemporalFragments
}
import org.apache.spark.sql.types._

/**
 * Windows, which set the end of each row; split, which cuts a row's period into fragments of limited
 * length; and coalesce up to a length.
 */
private[temporal] case class PeriodFragments(dataType: DataType) {
  import PeriodArithmetic.plus

  def history(fragments: TemporalFragments, below: History): History = {
    val rows = below.bounded(dataType)
    fragments.how match {
      case FragmentKind.Coalesce(length) =>
        val rule = PeriodRule.CoalesceUpTo(constant(PeriodLength(length, "max_length", dataType)))
        PeriodSweep.history(rule, Seq(SweepInput.left(rows)), rows.values, dataType)
      case FragmentKind.Split(length) =>
        split(rows, step(length))
      case FragmentKind.Sliding(length, onBounded) =>
        val sliding = PeriodLength(length, "sliding", dataType)
        windowed(rows, onBounded, slidingEnd(rows.period.get, sliding))
      case FragmentKind.Fixed(length, origin, onBounded) =>
        val zero = origin.map(GivenBound("temporal_window", "origin", dataType).typed)
        val fixed = PeriodLength(length, "fixed", dataType)
        windowed(rows, onBounded, fixedEnd(rows.period.get, fixed, zero))
    }
  }

  private def constant(length: PeriodLength): Long =
    if (length.calendar.isEmpty) length.units
    else TemporalErrors.length(
      s"${length.option} is ${length.length.sql}: give a number of days, as months differ in length.")

  /** The fragments of a `max_length`. */
  def step(maxLength: Expression): FragmentStep = {
    val length = PeriodLength(maxLength, "max_length", dataType)
    length.calendar match {
      case Some(units) => FragmentStep.Calendar(dataType, units, SQLConf.get.sessionLocalTimeZone)
      case None => FragmentStep.Units(length.units)
    }
  }

  private def slidingEnd(period: Period, length: PeriodLength): Expression = length.calendar match {
    case Some(CalendarLength(0, days, _)) => CalendarDays(dataType).after(period.start, days)
    case Some(units) => CalendarMonths(dataType).after(period.start, units.months)
    case None => plus(period.from, Literal(length.units))
  }

  private def fixedEnd(
      period: Period,
      length: PeriodLength,
      origin: Option[Expression]): Expression = length.calendar match {
    case Some(units) if units.months == 0 =>
      CalendarDays(dataType).windowEnd(period.start, units, origin)
    case Some(units) => CalendarMonths(dataType).windowEnd(period.start, units.months, origin)
    case None =>
      val zero = origin.fold[Expression](Literal(0L))(EncodedEndpoint(_))
      PeriodArithmetic.windowEnd(period.from, Literal(length.units), zero)
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

  private def split(rows: History, step: FragmentStep): History = {
    val period = rows.period.get
    val endless = raise(
      "LENGTH",
      "A period without a start or an end cannot be split: limit it first by sequenced(TABLE(q), " +
        "period => array(a, b)), and split the result by temporal_split(TABLE(...), max_length, " +
        "ts => 'ts', te => 'te').")
    val from = If(Or(IsNull(period.start), IsNull(period.end)), endless, period.from)
    val ends = Seq("start", "end").map(AttributeReference(_, LongType, nullable = false)())
    val fragments = FragmentRows(from, period.to, step)
    val generated = Generate(fragments, Nil, outer = false, None, ends, rows.plan)
    History.ofNumbers(generated, rows.values, ends, dataType)
  }
}
