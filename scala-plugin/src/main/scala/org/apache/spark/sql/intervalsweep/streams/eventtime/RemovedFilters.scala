// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}

/** Takes the filters at the top of a plan out of it. */
private[streams] object RemovedFilters {

  /** The plan without the filters, and their conditions over its output. */
  def of(plan: LogicalPlan): (LogicalPlan, Seq[Expression]) = plan match {
    case Filter(condition, child) if condition.deterministic =>
      val (rows, filters) = of(child)
      (rows, filters :+ condition)
    case alias @ SubqueryAlias(_, child) =>
      val (rows, filters) = of(child)
      (alias.copy(child = rows), filters)
    case project: Project => below(project)
    case _ => (plan, Nil)
  }

  private def below(project: Project): (LogicalPlan, Seq[Expression]) = {
    val names = AttributeMap(project.projectList.collect {
      case column: Attribute => column -> column
      case alias @ Alias(column: Attribute, _) => column -> alias.toAttribute
    })
    val (rows, filters) = of(project.child)
    // An expression of the projection may fail for rows that the filters drop.
    if (names.size < project.projectList.size ||
      filters.exists(!_.references.forall(names.contains))) (project, Nil)
    else {
      val renamed = filters.map(_.transform { case column: Attribute => names(column) })
      (project.copy(child = rows), renamed)
    }
  }
}
