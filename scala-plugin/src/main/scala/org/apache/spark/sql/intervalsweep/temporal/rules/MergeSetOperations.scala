// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.temporal.nodes.{PeriodRule, TemporalSetOperation}

/**
 * A rule for the query inside `sequenced`: replaces several sweeps by one.
 * {{{
 *   (A - B) - C  =  A - (B + C)
 *   A - (A - B)  =  A intersected with B     (13)
 *   A + (B - A)  =  max-union of A and B     (14)
 * }}}
 */
object MergeSetOperations extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case Except(Columns(Except(a, b, inner)), c, outer) if inner == outer =>
      Except(a, Union(b, c), outer)
    case Except(a, Columns(Except(same, b, true)), true) if a.sameResult(same) =>
      Intersect(a, b, isAll = true)
    case union @ Union(Seq(a, Columns(Except(b, same, true))), false, false)
        if a.sameResult(same) =>
      // The result must have the columns of the union, which are those of its first side.
      val merged = TemporalSetOperation(PeriodRule.UnionMax, a, b)
      if (merged.outputSet == union.outputSet) merged else union
  }
}
