// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.temporal.nodes.{TemporalErrors, TemporalPlan, ValidTime}

/**
 * Raises an error for a relation that is not marked and has columns with the names of a marked
 * relation's period. The rows of such a relation would silently be valid forever. A derived table or
 * a view without these columns says that its rows are always valid.
 */
private[temporal] object UnmarkedRelations {

  /** Checks a query whose aliases are still in the plan. */
  def check(query: LogicalPlan): Unit = {
    val periods = TemporalPlan.leaves(query)
      .map(marked => marked.start.name +: marked.end.map(_.name).toSeq).distinct
    (query +: query.subqueriesAll).foreach(checkPlan(_, periods))
  }

  private def checkPlan(plan: LogicalPlan, periods: Seq[Seq[String]]): Unit = plan match {
    case _: ValidTime =>
    case SubqueryAlias(_, child) if TemporalPlan.isMarked(child) => checkPlan(child, periods)
    case view: View if TemporalPlan.isMarked(view.child) => checkPlan(view.child, periods)
    case relation @ (_: SubqueryAlias | _: View | _: LeafNode) =>
      periods.find(_.forall(hasColumn(relation, _)))
        .foreach(TemporalErrors.unmarked(nameOf(relation), _, relation.origin))
    case _ => plan.children.foreach(checkPlan(_, periods))
  }

  private def hasColumn(relation: LogicalPlan, name: String): Boolean =
    relation.output.exists(column => SQLConf.get.resolver(column.name, name))

  private def nameOf(relation: LogicalPlan): String = relation match {
    case alias: SubqueryAlias => s"The relation `${alias.alias}`"
    case view: View => s"The view `${view.desc.identifier.table}`"
    case _ => "A relation"
  }
}
