// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.intervalsweep.condition.Side

/**
 * The pairs of a join for an aggregate, where a row may stand for several pairs: for a row of one
 * side with many partners of the other. What is then true of all of them is in the columns that are
 * [[org.apache.spark.sql.intervalsweep.execution.RunValue]]s; the others are those of one of the
 * pairs. Nothing forbids a row per pair: to evaluate it like a Project is right, if slow.
 *
 * @param columns attributes of the join, and named run values
 * @param groupSide the side whose rows are not to be taken together, if there is one
 * @param leftChecks what must not fail for a row of the left side that has a match
 * @param rightChecks the same for the right side
 */
case class MatchRuns(
    columns: Seq[NamedExpression],
    groupSide: Option[Side],
    leftChecks: Seq[Expression],
    rightChecks: Seq[Expression],
    child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = columns.map(_.toAttribute)

  /** The join, also below what Spark has put there to drop columns. */
  def join: Option[Join] = child match {
    case join: Join => Some(join)
    case Project(kept, join: Join) if kept.forall(_.isInstanceOf[Attribute]) => Some(join)
    case _ => None
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): MatchRuns =
    copy(child = newChild)
}
