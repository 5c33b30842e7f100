// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions.{
  Alias, AliasHelper, And, AttributeMap, AttributeSet, PredicateHelper
}
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.planner.nodes.{PerBatchRows, RowId, WithRowId}

/**
 * An optimizer rule: pushes filters below row ids and below [[PerBatchRows]]. Spark itself keeps
 * filters above expressions that are not deterministic, and above nodes that it does not know.
 */
object PushFiltersBelowRowId extends Rule[LogicalPlan] with PredicateHelper with AliasHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case Filter(condition, rows: PerBatchRows) if condition.deterministic =>
      PerBatchRows(Filter(condition, rows.child))
    case Filter(condition, rows: WithRowId)
        if condition.deterministic && !condition.references.contains(rows.row) =>
      rows.copy(child = Filter(condition, rows.child))
    case filter @ Filter(condition, project @ RowId.Of(columns, child)) =>
      val own = AttributeMap(columns.collect {
        case a: Alias if a.child.deterministic => a.toAttribute -> a
      })
      val below = child.outputSet ++ AttributeSet(own.keys)
      val (down, up) = splitConjunctivePredicates(condition)
        .partition(c => c.deterministic && c.references.subsetOf(below))
      if (down.isEmpty) filter
      else {
        val filtered = Filter(replaceAlias(down.reduce(And), own), child)
        val numbered = project.withNewChildren(Seq(filtered))
        up.reduceOption(And).filter(_ != TrueLiteral).fold(numbered)(Filter(_, numbered))
      }
  }
}
