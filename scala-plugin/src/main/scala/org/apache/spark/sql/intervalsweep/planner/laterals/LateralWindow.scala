// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.OUTER_REFERENCE
import org.apache.spark.sql.intervalsweep.condition.reading.InlineReplaceable
import org.apache.spark.sql.intervalsweep.functions.WindowMark

/**
 * A lateral subquery that aggregates all its rows, without groups.
 *
 * @param results    the selected columns, over the aggregate functions
 * @param conditions predicates over the base and the probe rows
 * @param output     the columns of the subquery in the outer query
 */
private[planner] case class LateralWindow(
    results: Seq[NamedExpression],
    conditions: Seq[Expression],
    probe: LogicalPlan,
    output: Seq[Attribute]) {

  /** Whether it asks for rows before their windows are complete. */
  def isEager: Boolean = results.exists(_.exists(_.isInstanceOf[WindowMark]))
}

private[planner] object LateralWindow {

  /** @param base the outer rows, which may come from the same table */
  def of(base: LogicalPlan, plan: LogicalPlan): Option[LateralWindow] =
    read(base, plan).map(_.copy(output = plan.output))

  private def read(base: LogicalPlan, plan: LogicalPlan): Option[LateralWindow] = plan match {
    case SubqueryAlias(_, child) => read(base, child)
    case Project(columns, child) => read(base, child).map { window =>
        val values = AttributeMap(window.results.map(r => r.toAttribute -> valueOf(r)))
        window.copy(results = columns.map(plain(_).asInstanceOf[NamedExpression]).map(c =>
          named(
            c,
            c.transform {
              case a: Attribute => values.getOrElse(a, a)
            })))
      }
    case Aggregate(Nil, results, child, _) =>
      val (conditions, probe) = rows(child)
      Option.when(!hasOuter(probe)) {
        val (own, columns) = LateralToJoin.renewed(base, probe)
        def read(e: Expression) = plain(e.transform {
          case a: Attribute => columns.getOrElse(a, a)
        })
        LateralWindow(
          results.map(read(_).asInstanceOf[NamedExpression]),
          conditions.map(read),
          own,
          plan.output)
      }
    case _ => None
  }

  def valueOf(e: NamedExpression): Expression = e match {
    case Alias(child, _) => child
    case other => other
  }

  private def named(before: NamedExpression, e: Expression): NamedExpression = e match {
    case alias: Alias => alias
    case a: Attribute => a
    case other => Alias(other, before.name)(before.exprId)
  }

  private def rows(plan: LogicalPlan): (Seq[Expression], LogicalPlan) = plan match {
    case Filter(condition, child) =>
      val (conditions, probe) = rows(child)
      (conditions :+ condition, probe)
    case SubqueryAlias(_, child) if hasOuter(child) => rows(child)
    case other => (Nil, other)
  }

  private def plain(e: Expression): Expression = InlineReplaceable(e.transform {
    case OuterReference(base) => base
  })

  private def hasOuter(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(_.containsPattern(OUTER_REFERENCE)))
}
