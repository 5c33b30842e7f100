// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, MeasureKind, PeriodMeasure, PeriodRule, PeriodSweep
}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

/**
 * The first rows in an order at each instant, by a sweep. All rows are numbered in the order once.
 * The sweep keeps the numbers of the valid rows in a tree, and returns the least ones of each
 * instant. A join with the numbered rows gives the rows.
 *
 * The cost is O(n m log n) for n rows, of which m are returned at an instant. If each fragment of
 * time had all its valid rows, there would be O(n^2).
 */
private[temporal] case class FirstRows(dataType: DataType) {

  /**
   * The first rows without the `skipped` first ones. None if they are too many, or rows cannot be
   * ordered in all columns. Both plans below the join number the rows, so that the order must be
   * total: equal rows are interchangeable.
   *
   * @param rowNumber the column of the row's number at the instant, if it is returned
   */
  def of(
      below: History,
      order: Seq[SortOrder],
      skipped: Int,
      most: Int,
      rowNumber: Option[Attribute] = None): Option[History] = {
    val rows = below.bounded(dataType)
    val last = skipped.toLong + most
    val isTotal = rows.values.forall(PeriodSweep.isComparable) &&
      order.forall(_.child.deterministic)
    Option.when(most > 0 && last <= FirstRows.Most && isTotal) {
      val numbered = withNumbers(rows, order)
      val copy = FreshAttributeCopy(numbered).history
      val chosen = leastNumbers(copy, skipped, last.toInt)
      val (columns, ends) = chosen.output.splitAt(2)
      val (place, number) = (columns.head, columns.last)
      val join = Join(
        numbered.plan,
        chosen,
        Inner,
        Some(EqualTo(Cast(numbered.values.last, LongType), number)),
        JoinHint.NONE)
      val told = rowNumber.toSeq.map(column => Alias(place, column.name)(column.exprId))
      val plan = Project(rows.values ++ told ++ ends, join)
      History.ofNumbers(plan, rows.values ++ told.map(_.toAttribute), ends, dataType)
    }
  }

  /** The rows with their number as the last value. */
  private def withNumbers(rows: History, order: Seq[SortOrder]): History = {
    val total = order ++ rows.columns.map(SortOrder(_, Ascending))
    val frame = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
    val number = Alias(
      WindowExpression(RowNumber(), WindowSpecDefinition(Nil, total, frame)),
      "number")()
    val plan = Window(Seq(number), Nil, total, Project(rows.columns, rows.plan))
    History(plan, rows.values :+ number.toAttribute, rows.period)
  }

  /**
   * The place of a row at an instant, its number, and the start and the end of a period in which the
   * row has this place.
   */
  private def leastNumbers(rows: History, skipped: Int, last: Int): LogicalPlan = {
    val number = Cast(rows.values.last, LongType)
    val measures = (1 to last).map { n =>
      val kind = if (n == 1) MeasureKind.Least else MeasureKind.Next
      PeriodMeasure(kind, number, AttributeReference("state", LongType, nullable = false)())
    }
    val states = measures.drop(skipped).map(m => Alias(m.state, "number")())
    val swept =
      PeriodSweep.ofValues(PeriodRule.Values(ofEmpty = false), rows, Nil, measures, states)
    val at = AttributeReference("at", IntegerType, nullable = false)()
    val found = AttributeReference("number", LongType, nullable = false)()
    val numbers = PosExplode(CreateArray(swept.values))
    val all = Generate(numbers, Nil, outer = false, None, Seq(at, found), swept)
    val place = Alias(Add(at, Literal(skipped + 1), EvalMode.LEGACY), "place")()
    // A state without a row is the largest LONG.
    Project(Seq(place, found) ++ swept.ends, Filter(LessThan(found, Literal(Long.MaxValue)), all))
  }
}

private[temporal] object FirstRows {

  /** The sweep updates this many numbers for each row that starts or ends. */
  private val Most = 64
}
