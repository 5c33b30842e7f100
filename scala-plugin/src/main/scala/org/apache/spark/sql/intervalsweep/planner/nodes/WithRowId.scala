// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide

/**
 * Rows with an identity, as [[RowId.Of]] has them, where the identity may turn out to be
 * needless: in a node of its own Spark merges it with no other projection, so that the planner can
 * leave it out and the rows below are the same plan.
 *
 * Of a stream they are those of one micro-batch, as a table has them: see [[PerBatchRows]].
 *
 * @param row the identity; no Alias, as in [[MatchRuns]]
 */
case class WithRowId(row: Attribute, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ row
  override def producedAttributes: AttributeSet = AttributeSet(row)
  override def isStreaming: Boolean = false
  def identity: Alias = Alias(RowId(), row.name)(row.exprId)

  override protected def withNewChildInternal(newChild: LogicalPlan): WithRowId =
    copy(child = newChild)
}

object WithRowId {

  /**
   * A join of such rows for an aggregate that has a group for each: both, without the columns that
   * nobody reads but these groups.
   */
  def read(aggregate: Aggregate, join: Join): (Aggregate, Join) = {
    val numbered = of(join.left)
    rowOf(numbered).filter(aggregate.groupingExpressions.contains).fold((aggregate, join)) { row =>
      val columns = AttributeSet(aggregate.aggregateExpressions)
      val groups = aggregate.groupingExpressions.filter { e =>
        e == row || e.references.exists(columns.contains)
      }
      val needed = columns ++ AttributeSet(groups) ++ AttributeSet(join.condition)
      val left = numbered match {
        case rows @ WithRowId(_, Project(all, child)) =>
          rows.copy(child = Project(all.filter(c => needed.contains(c.toAttribute)), child))
        case other => other
      }
      (aggregate.copy(groupingExpressions = groups), join.copy(left = left))
    }
  }

  private def of(plan: LogicalPlan): LogicalPlan = plan match {
    case RowId.Of(columns, child) => split(plan, columns)(Project(_, child))
    // Spark has merged the projection with it.
    case aggregate: Aggregate =>
      split(plan, aggregate.aggregateExpressions)(c => aggregate.copy(aggregateExpressions = c))
    case _ => plan
  }

  private def split(plan: LogicalPlan, columns: Seq[NamedExpression])(
      without: Seq[NamedExpression] => LogicalPlan): LogicalPlan =
    columns.partition(RowId.isIdentity) match {
      case (Seq(row: Alias), others) => WithRowId(row.toAttribute, without(others))
      case _ => plan
    }

  private def rowOf(plan: LogicalPlan): Option[Attribute] = plan match {
    case WithRowId(row, _) => Some(row)
    case Project(_, WithRowId(row, _)) => Some(row)
    case _ => None
  }

  /** An aggregate that has a group for each of them, and what the runs of their matches add up to. */
  object Groups {
    def unapply(plan: LogicalPlan): Option[(Aggregate, MatchRuns, Join)] = plan match {
      case aggregate @ Aggregate(groups, columns, runs: MatchRuns, _)
          if runs.groupSide.contains(LeftSide) =>
        for {
          join <- runs.join
          row <- rowOf(join.left)
          if groups.contains(row) && groups.forall(_.isInstanceOf[Attribute]) &&
            columns.forall(_.deterministic) && !AttributeSet(columns).contains(row)
        } yield (aggregate, runs, join)
      case _ => None
    }
  }
}
