// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import java.time.LocalDate

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, AttributeSeq, BindReferences, Expression, Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Filter, Generate, LocalRelation, LogicalPlan, Project
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  FragmentKind, History, OnBounded, Period, TemporalFragments
}
import org.apache.spark.sql.types.{DataType, DateType, LongType, YearMonthIntervalType}

/** Windows and splits, compared with loops over instants. The plans are evaluated row by row. */
class PeriodFragmentsSuite extends AnyFunSuite {
  private val id = AttributeReference("id", LongType, nullable = false)()

  /** The rows (id, start, end) that a plan makes of others. */
  private def evaluate(plan: LogicalPlan, rows: Seq[InternalRow]): Seq[InternalRow] = plan match {
    case Project(columns, child) =>
      val values = columns.map(bound(_, child.output))
      evaluate(child, rows).map(row => InternalRow.fromSeq(values.map(_.eval(row))))
    case Filter(condition, child) =>
      val holds = bound(condition, child.output)
      evaluate(child, rows).filter(row => holds.eval(row) == true)
    case Generate(fragments: FragmentRows, _, _, _, _, child) =>
      val made =
        fragments.copy(
          from = bound(fragments.from, child.output),
          to = bound(fragments.to, child.output))
      val types = child.output.map(_.dataType)
      evaluate(child, rows).flatMap { row =>
        made.eval(row).iterator
          .map(ends =>
            InternalRow.fromSeq(row.toSeq(types) ++ Seq(ends.getLong(0), ends.getLong(1))))
      }
    case _: LocalRelation => rows
    case other => fail(s"an unknown node: $other")
  }

  private def bound(e: Expression, columns: Seq[Attribute]): Expression =
    BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(columns))

  /** The periods that a row with this period gets; None is NULL. */
  private def periods[A](
      dataType: DataType,
      how: FragmentKind,
      start: Option[A],
      end: Option[A]): Seq[(Option[A], Option[A])] = {
    val ends = Seq("start", "end").map(AttributeReference(_, dataType)())
    val table = LocalRelation(id +: ends)
    val below = History(table, Seq(id), Some(Period(ends.head, ends.last)))
    val result = PeriodFragments(dataType).history(TemporalFragments(table, how), below)
    val row = InternalRow(7L, start.orNull[Any], end.orNull[Any])
    evaluate(result.plan, Seq(row)).map { found =>
      assert(found.getLong(0) == 7)
      def value(i: Int): Option[A] = Option(found.get(i, dataType)).map(_.asInstanceOf[A])
      (value(1), value(2))
    }
  }

  private def sliding(length: Expression, on: OnBounded = OnBounded.Replace): FragmentKind =
    FragmentKind.Sliding(length, on)

  private def fixed(length: Expression, origin: Option[Expression]): FragmentKind =
    FragmentKind.Fixed(length, origin, OnBounded.Replace)

  test("a sum beyond the largest LONG is the largest, which means unbounded") {
    val starts = Seq(Long.MinValue, -5L, 0L, 1L << 62, Long.MaxValue - 7, Long.MaxValue)
    for (start <- starts; length <- Seq(1L, 7L, 8L, 1L << 62, Long.MaxValue)) {
      val wanted = (BigInt(start) + length).min(Long.MaxValue).toLong
      assert(PeriodArithmetic.plus(Literal(start), Literal(length)).eval() == wanted)
    }
  }

  test("a split period consists of fragments of the length, and a shorter one") {
    val random = new Random(5)
    val found = for (_ <- 1 to 200) yield {
      val start = random.nextInt(100).toLong - 50
      val (end, length) = (start + 1 + random.nextInt(30), 1 + random.nextInt(12))
      val fragments = periods(
        LongType,
        FragmentKind.Split(Literal(length)),
        Some(start),
        Some(end)).map { case (a, b) => (a.get, b.get) }
      val wanted = (start until end by length.toLong).map(a => (a, math.min(a + length, end)))
      assert(fragments == wanted, s"[$start, $end) by $length")
      fragments.size
    }
    assert(found.count(_ > 1) > 50)
  }

  test("a period without a start or an end cannot be split") {
    for ((start, end) <- Seq((None, Some(5L)), (Some(5L), None), (None, None)))
      assertThrows[RuntimeException] {
        periods[Long](LongType, FragmentKind.Split(Literal(3)), start, end)
      }
  }

  test("a sliding window ends so much after the start") {
    val starts = Seq(-50L, 0L, 1L, Long.MaxValue - 8, Long.MaxValue - 7)
    for (start <- starts; end <- Seq(None, Some(9L)))
      assert(periods(LongType, sliding(Literal(7)), Some(start), end) ==
        Seq((Some(start), Option.when(start < Long.MaxValue - 7)(start + 7))))
  }

  test("a window needs a start, and may refuse an end") {
    val refusing = sliding(Literal(7), OnBounded.Error)
    assert(periods(LongType, refusing, Some(1L), None) == Seq((Some(1L), Some(8L))))
    assertThrows[RuntimeException](periods(LongType, refusing, Some(1L), Some(2L)))
    assertThrows[RuntimeException](periods[Long](LongType, sliding(Literal(7)), None, Some(2L)))
  }

  test("a fixed window ends at the next multiple of its length after the origin") {
    for (start <- -40L to 40L; length <- Seq(1, 7, 12); origin <- Seq(None, Some(3), Some(-100))) {
      val windows = (-150 to 150).map(k => origin.getOrElse(0) + k.toLong * length)
      assert(periods(LongType, fixed(Literal(length), origin.map(Literal(_))), Some(start), None) ==
        Seq((Some(start), windows.find(_ > start))))
    }
  }

  private def months(n: Int): Literal = Literal(n, YearMonthIntervalType())
  private def date(day: LocalDate): Literal = Literal(day.toEpochDay.toInt, DateType)

  test("windows of months follow the calendar") {
    val random = new Random(6)
    val days = Seq.fill(100)(random.nextInt(30000) - 10000).map(d => LocalDate.ofEpochDay(d.toLong))
    val lastDays = Seq("2023-12-31", "2024-01-31", "2024-02-29").map(LocalDate.parse(_))
    val origins = None +: Seq("2000-01-31", "2031-05-15").map(day => Some(LocalDate.parse(day)))
    for (day <- days ++ lastDays; n <- Seq(1, 3, 12, 14)) {
      def end(how: FragmentKind): LocalDate = {
        val start = day.toEpochDay.toInt
        val found = periods(DateType, how, Some(start), None)
        assert(found.map(_._1) == Seq(Some(start)))
        LocalDate.ofEpochDay(found.head._2.get.toLong)
      }
      assert(end(sliding(months(n))) == day.plusMonths(n.toLong), s"$day, $n months")
      for (origin <- origins) {
        val first = origin.getOrElse(LocalDate.EPOCH)
        val windows = (-2000 / n to 2000 / n).map(k => first.plusMonths(k.toLong * n))
        val wanted = windows.find(_.isAfter(day)).get
        assert(end(fixed(months(n), origin.map(date))) == wanted, s"$day, $n months from $first")
      }
    }
  }
}
