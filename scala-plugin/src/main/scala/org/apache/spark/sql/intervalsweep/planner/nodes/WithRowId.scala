// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide

/**
 * Rows with a row id, like a projection [[RowId.Of]]. This is a separate node, not a Project, so
 * that Spark does not collapse it and the planner can drop it if no operator uses the id. The plan
 * below then stays the same.
 *
 * In a stream these are the rows of one micro-batch, like those of a table: see [[PerBatchRows]].
 *
 * @param row the row id; not an Alias, for the reason given in [[MatchRuns]]
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

  /** Whether a plan computes row ids. */
  def isIn(plan: LogicalPlan): Boolean = plan.exists {
    case _: WithRowId => true
    case LogicalQueryStage(logical, _) => isIn(logical)
    case node => node.expressions.exists(_.exists(_.isInstanceOf[RowId]))
  }

  /**
   * For an aggregate that has a group for each of these rows: (aggregate, join) after pruning
   * columns that are used only for grouping by row id.
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
    // Spark has merged the projection into the aggregate.
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

  /** Matches an aggregate over [[MatchRuns]] that has a group for each of these rows. */
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
