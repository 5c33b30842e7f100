// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.analysis.{AnalysisContext, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.temporal.nodes.{TemporalErrors, ValidTime}

/**
 * A rule after resolution. A column that is still unknown and has the name of a hidden period's
 * column gets an error that says so. Spark's own error would only list other columns.
 */
object HiddenPeriod extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    // A subquery is analyzed alone first, where a column may still belong to the query around it.
    val isWhole = AnalysisContext.get.outerPlan.isEmpty
    if (isWhole && !plan.resolved) plan.foreachWithSubqueries(check)
    plan
  }

  private def check(node: LogicalPlan): Unit = {
    lazy val periods = node.children.flatMap(_.collect { case marked: ValidTime => marked })
    node.expressions.foreach(_.foreach {
      case unknown: UnresolvedAttribute =>
        for {
          marked <- periods
          column <- marked.start +: marked.end.toSeq
          if SQLConf.get.resolver(column.name, unknown.nameParts.last)
        } TemporalErrors.hiddenPeriod(
          column.name,
          marked.start.name,
          marked.end.fold(marked.names._2)(_.name),
          unknown.origin)
      case _ =>
    })
  }
}
