// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalSetOperation

/**
 * A rule for the query inside `sequenced`: pushes DISTINCT below a join. The distinct pairs of rows
 * are the pairs of distinct rows (paper, 5.3.1), which are fewer. The rule applies if one of the
 * sides is distinct already.
 *
 * The result stays canonical: where a pair ends, one of its rows ends, and no equal row starts at
 * that instant.
 */
object PushDistinctThroughJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case Distinct(all @ Columns(join @ Join(left, right, Inner, _, _)))
        if isDistinct(left) || isDistinct(right) =>
      val sides = join.copy(left = distinct(left), right = distinct(right))
      if (all eq join) sides else Project(all.output, sides)
  }

  private def distinct(plan: LogicalPlan): LogicalPlan =
    if (isDistinct(plan)) plan else Distinct(plan)

  /** Whether no row is valid twice at an instant. */
  private def isDistinct(plan: LogicalPlan): Boolean = plan match {
    case Columns(_: Distinct | Except(_, _, false) | Intersect(_, _, false)) => true
    case Columns(Aggregate(keys, results, _, _)) =>
      val returned = AttributeSet(results.map(_.toAttribute))
      keys.forall(key => key.references.nonEmpty && key.references.subsetOf(returned))
    case Columns(TemporalSetOperation(_, a, b)) => isDistinct(a) && isDistinct(b)
    case _ => false
  }
}
