// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Union}
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, PeriodEndpoint}
import org.apache.spark.sql.intervalsweep.functions.{IntervalPredicate, Relations}
import org.apache.spark.sql.types.DataType

/** The columns of a row's period, its end excluded. NULL means unbounded. */
case class Period(start: Attribute, end: Attribute) {

  def columns: Seq[Attribute] = Seq(start, end)

  def from: Expression = PeriodEndpoint(start, isEnd = false)

  def to: Expression = PeriodEndpoint(end, isEnd = true)

  def overlaps(other: Period): Expression = IntervalPredicate(
    Relations.named("INTERVAL_INTERSECTS"),
    from,
    to,
    other.from,
    other.to,
    None,
    None,
    None)

  /** Whether the period contains an instant, which is a LONG. */
  def contains(instant: Expression): Expression =
    And(LessThanOrEqual(from, instant), LessThan(instant, to))

  /**
   * The common part of two periods that overlap. Greatest and Least ignore NULL, which is
   * unbounded.
   */
  def overlap(other: Period): (Expression, Expression) =
    (Greatest(Seq(start, other.start)), Least(Seq(end, other.end)))
}

/**
 * A plan with the period of each row.
 *
 * @param values the columns without the period: those of the operator that the plan was made from
 * @param period None if the rows are always valid
 */
case class History(plan: LogicalPlan, values: Seq[Attribute], period: Option[Period]) {

  def columns: Seq[Attribute] = values ++ period.toSeq.flatMap(_.columns)

  def isMarked: Boolean = period.isDefined

  /** The same rows with a period. It is unbounded for rows that are always valid. */
  def bounded(dataType: DataType): History =
    if (isMarked) this
    else {
      val unbounded = Literal.create(null, dataType)
      History.of(plan, values, unbounded, unbounded)
    }

  /** The same rows with other values. */
  def selecting(columns: Seq[NamedExpression]): History = copy(
    plan = Project(columns ++ period.toSeq.flatMap(_.columns), plan),
    values = columns.map(_.toAttribute))

  /** The same rows, whose values have the names and ids of other columns. */
  def named(output: Seq[Attribute]): History = selecting(values.zip(output).map {
    case (value, column) => Alias(value, column.name)(column.exprId, column.qualifier)
  })

  /** NULLs in columns like the values. */
  def nulls: Seq[NamedExpression] =
    values.map(a => Alias(Literal.create(null, a.dataType), a.name)())

  /** The ends of the period as LONGs. */
  def from: Expression = period.fold[Expression](Literal(Long.MinValue))(_.from)
  def to: Expression = period.fold[Expression](Literal(Long.MaxValue))(_.to)
}

object History {

  /** The rows of several histories, each with a period, in the columns of the first. */
  def united(all: Seq[History]): History = {
    val union = Union(all.map(rows => Project(rows.columns, rows.plan)))
    val (values, ends) = union.output.splitAt(union.output.size - 2)
    History(union, values, Some(Period(ends.head, ends.last)))
  }

  /** A history whose period is given as LONGs, which encode values of the type. */
  def ofNumbers(
      plan: LogicalPlan,
      values: Seq[Attribute],
      ends: Seq[Expression],
      dataType: DataType): History =
    of(plan, values, DecodedEndpoint(ends.head, dataType), DecodedEndpoint(ends.last, dataType))

  /** A history whose period is computed from the plan's columns. */
  def of(plan: LogicalPlan, values: Seq[Attribute], start: Expression, end: Expression): History = {
    val ends = Seq(Alias(start, "start")(), Alias(end, "end")())
    History(
      Project(values ++ ends, plan),
      values,
      Some(Period(ends.head.toAttribute, ends.last.toAttribute)))
  }
}
