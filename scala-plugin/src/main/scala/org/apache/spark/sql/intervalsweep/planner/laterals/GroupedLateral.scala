// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Max}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * A lateral subquery with GROUP BY. It has a row for each group of the matches of an outer row:
 *
 * {{{
 *   base JOIN LATERAL (                    Aggregate [row, base.*, venue], [base.*, venue, max(price)]
 *     SELECT venue, max(price)               Join LEFT OUTER, probe.k = base.k AND probe.ts BETWEEN ..
 *     FROM probe WHERE probe.k = base.k  ->    base with a row id
 *       AND probe.ts BETWEEN ...               probe
 *     GROUP BY venue)
 * }}}
 *
 * @param nodes the nodes above the aggregate, bottom-up
 */
private[planner] case class GroupedLateral(
    join: LateralToJoin,
    aggregate: Aggregate,
    read: Expression => Expression,
    nodes: Seq[UnaryNode],
    output: Seq[Attribute]) {
  import GroupedLateral.Matched

  /** The outer rows with the columns of the subquery added. */
  def over(base: LogicalPlan, joinType: JoinType): LogicalPlan = {
    val matched = Alias(Max(IsNotNull(join.marker)).toAggregateExpression(), Matched)()
    val groups = aggregate.groupingExpressions.map(inJoin)
    val columns = aggregate.aggregateExpressions.map { column =>
      Alias(inJoin(CorrelatedSubquery.valueOf(column)), column.name)(column.exprId)
    }
    val isOuter = joinType == LeftOuter
    val matches = if (isOuter) join else join.onlyMatches
    val rows = matches.aggregate(matched +: columns, groups)
    val above = nodes.foldLeft(rows)(added(base.output :+ matched.toAttribute, _, _))
    if (isOuter) orNull(base, matched.toAttribute, above)
    else Project(base.output ++ output, above)
  }

  private def inJoin(e: Expression): Expression = join.read(read(e).transform {
    case f: AggregateExpression => join.overJoin(f)
  })

  /** A node of the subquery over rows that have the columns `kept`, too. */
  private def added(kept: Seq[Attribute], rows: LogicalPlan, node: UnaryNode): LogicalPlan =
    node match {
      case Filter(condition, _) => Filter(condition, rows)
      case Project(columns, _) => Project(kept ++ columns, rows)
      case other => throw new IllegalStateException(s"above a subquery with GROUP BY: $other")
    }

  /** An outer row without a match has one group, whose columns become NULL. */
  private def orNull(base: LogicalPlan, matched: Attribute, rows: LogicalPlan): LogicalPlan = {
    val below = output.map(column => Alias(column, column.name)())
    val above = output.zip(below).map { case (column, value) =>
      LateralWindow.named(LateralWindow.orNull(matched, value.toAttribute), column)
    }
    Project(base.output ++ above, Project(base.output ++ below :+ matched, rows))
  }
}

private[planner] object GroupedLateral {
  private val Matched = "matched"

  /** None if the subquery has another form, or if the join would not be an IntervalSweepJoin. */
  def of(base: LogicalPlan, subquery: LogicalPlan, joinType: JoinType): Option[GroupedLateral] =
    for {
      (aggregate, nodes) <- LateralWindow.aggregateOf(subquery, Nil)
      if aggregate.groupingExpressions.nonEmpty
      // An outer row whose groups are all dropped by HAVING would need a row with NULLs.
      if joinType != LeftOuter || nodes.forall(_.isInstanceOf[Project])
      if nodes.flatMap(_.expressions).forall(e => isOwn(e) && CorrelatedSubquery.isPlain(e))
      if aggregate.expressions.forall(CorrelatedSubquery.isPlain)
      if !LateralWindow.refersFurther(base, subquery)
      rows <- LateralWindow.rowsOf(base, aggregate.child)
      read = rows.read
      if aggregate.groupingExpressions.forall(isOwn) &&
        aggregate.aggregateExpressions.forall(isOfGroups)
      join <- LateralToJoin.of(base, rows.conditions, rows.probe, rows.limit)
      functions = aggregate.aggregateExpressions.flatMap(_.collect {
        case f: AggregateExpression => f
      })
      if functions.forall(f => join.takes(f))
    } yield GroupedLateral(join, aggregate, read, nodes, subquery.output)

  private def isOwn(e: Expression): Boolean = !e.exists(_.isInstanceOf[OuterReference])

  /** Whether columns of outer rows are read by functions only. */
  private def isOfGroups(e: Expression): Boolean = e match {
    case _: AggregateExpression => true
    case _: OuterReference => false
    case other => other.children.forall(isOfGroups)
  }
}
