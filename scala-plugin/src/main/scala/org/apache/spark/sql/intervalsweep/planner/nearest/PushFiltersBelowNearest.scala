// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions.{And, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches

/**
 * An optimizer rule: filters on columns of the left side go below [[NearestMatches]], and
 * conditions on columns of the right side alone become filters of it.
 */
object PushFiltersBelowNearest extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case filter @ Filter(condition, node: NearestMatches) =>
      val (down, up) = splitConjunctivePredicates(condition)
        .partition(c => c.deterministic && c.references.subsetOf(node.left.outputSet))
      if (down.isEmpty) filter
      else {
        val rows = node.copy(left = Filter(down.reduce(And), node.left))
        up.reduceOption(And).fold[LogicalPlan](rows)(Filter(_, rows))
      }
    case node: NearestMatches =>
      val (down, up) = splitConjunctivePredicates(node.condition).partition { c =>
        c.deterministic && c.references.nonEmpty && c.references.subsetOf(node.right.outputSet)
      }
      if (down.isEmpty || up.isEmpty) node
      else node.copy(right = Filter(down.reduce(And), node.right), condition = up.reduce(And))
  }
}
