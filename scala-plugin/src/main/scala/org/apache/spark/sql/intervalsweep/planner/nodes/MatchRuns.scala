// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * The pairs of a join, for an aggregate above it. A row may represent a run: one row of one side
 * and many matches of the other. The columns that are
 * [[org.apache.spark.sql.intervalsweep.execution.aggregates.RunValue]]s hold aggregates over the
 * run; the other columns come from an arbitrary pair of it. A row per pair is correct too, but
 * slow: the node can be evaluated like a Project.
 *
 * Values and names are separate fields, because Spark removes an Alias from a node that it does not
 * know, for example before it writes sorted rows.
 *
 * @param kept   attributes of the join
 * @param values run values
 * @param names  the output columns of the run values
 * @param groupSide the side whose rows must not be merged, if there is one
 * @param leftChecks expressions that must raise their errors for each left row that has a match
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

  /** The run values under their names. */
  def named: Seq[Alias] =
    values.zip(names).map { case (value, name) => Alias(value, name.name)(name.exprId) }

  /** The join, which may be below a projection by which Spark drops columns. */
  def join: Option[Join] = child match {
    case join: Join => Some(join)
    case Project(columns, join: Join) if columns.forall(_.isInstanceOf[Attribute]) => Some(join)
    case _ => None
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): MatchRuns =
    copy(child = newChild)
}
