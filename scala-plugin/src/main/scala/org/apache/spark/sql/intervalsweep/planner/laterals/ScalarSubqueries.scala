// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions.{
  And, Expression, NamedExpression, PredicateHelper, ScalarSubquery
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

/**
 * Replaces correlated scalar subqueries by columns of the outer rows. The columns are those that a
 * LEFT JOIN LATERAL of each subquery returns.
 *
 * @param joined the outer rows with the columns of a subquery added; None if it is left to Spark
 */
private[planner] final class ScalarSubqueries(
    joined: (LogicalPlan, LogicalPlan) => Option[LogicalPlan])
    extends PredicateHelper {

  /** Replaces the subqueries of a filter or of a projection. */
  val replaced: PartialFunction[LogicalPlan, LogicalPlan] = {
    case filter: Filter if filter.resolved && areIn(filter.condition) => of(filter)
    case project: Project if project.resolved && project.projectList.exists(areIn) => of(project)
  }

  private def areIn(e: Expression): Boolean = e.exists(isCandidate)

  private def isCandidate(e: Expression): Boolean = e match {
    case subquery: ScalarSubquery => subquery.outerAttrs.nonEmpty
    case _ => false
  }

  private def of(project: Project): LogicalPlan = {
    val beside = new Values(project.child)
    val columns = project.projectList.map(beside.read(_).asInstanceOf[NamedExpression])
    if (beside.isUnchanged) project
    else project.copy(projectList = columns, child = beside.rows)
  }

  /**
   * Conditions without such a subquery are evaluated first, so that the subquery is computed for
   * fewer rows.
   */
  private def of(filter: Filter): LogicalPlan = {
    val (late, early) = splitConjunctivePredicates(filter.condition).partition(areIn)
    val rows = early.reduceOption(And).fold(filter.child)(Filter(_, filter.child))
    val beside = new Values(rows)
    val kept = late.map(beside.read).reduce(And)
    if (beside.isUnchanged) filter
    else Project(filter.child.output, Filter(kept, beside.rows))
  }

  /** The outer rows with the values of the subqueries that have been replaced. */
  private class Values(initial: LogicalPlan) {
    var rows: LogicalPlan = initial
    def isUnchanged: Boolean = rows eq initial

    def read(e: Expression): Expression = e.transform {
      case subquery: ScalarSubquery if isCandidate(subquery) =>
        joined(rows, subquery.plan).fold[Expression](subquery) { plan =>
          rows = plan
          // A stream operator may take the watermark from the column.
          plan.output.find(_.semanticEquals(subquery.plan.output.head)).get
        }
    }
  }
}
