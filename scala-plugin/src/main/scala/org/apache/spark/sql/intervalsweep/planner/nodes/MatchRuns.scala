// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * The pairs of a join for an aggregate, where a row may stand for several pairs: for a row of one
 * side with many partners of the other. What is then true of all of them is in the columns that are
 * [[org.apache.spark.sql.intervalsweep.execution.RunValue]]s; the others are those of one of the
 * pairs. Nothing forbids a row per pair: to evaluate it like a Project is right, if slow.
 *
 * Values and names are apart: Spark takes an Alias away from a node that it does not know, as before
 * it writes rows in an order.
 *
 * @param kept   attributes of the join
 * @param values run values, and `names` what they are called
 * @param groupSide the side whose rows are not to be taken together, if there is one
 * @param leftChecks what must not fail for a row of the left side that has a match
 * @param rightChecks the same for the right side
 */
case class MatchRuns(
    kept: Seq[Attribute],
    values: Seq[Expression],
    names: Seq[Attribute],
    groupSide: Option[Side],
    leftChecks: Seq[Expression],
    rightChecks: Seq[Expression],
    child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = kept ++ names
  override def producedAttributes: AttributeSet = AttributeSet(names)

  /** The values, with their names. */
  def named: Seq[Alias] =
    values.zip(names).map { case (value, name) => Alias(value, name.name)(name.exprId) }

  /** The join, also below what Spark has put there to drop columns. */
  def join: Option[Join] = child match {
    case join: Join => Some(join)
    case Project(columns, join: Join) if columns.forall(_.isInstanceOf[Attribute]) => Some(join)
    case _ => None
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): MatchRuns =
    copy(child = newChild)
}
