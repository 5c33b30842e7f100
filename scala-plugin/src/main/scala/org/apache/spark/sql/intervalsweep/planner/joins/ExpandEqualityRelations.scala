// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.planner.joins.EqualityRelations.{
  areIn, isSweepable, writeOut
}

/**
 * An optimizer rule: expands relations that consist of equalities only, so that Spark can push the
 * equalities to the source and infer other predicates from them. Two kinds are not expanded:
 * relations of a join that is swept, and relations that may still become a join condition. These
 * stand in a filter above a join, or in EXISTS.
 */
object ExpandEqualityRelations extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case join: Join if areIn(join) && IntervalSweepStrategy.isSwept(join) => join
    case filter: Filter if filter.child.exists(_.isInstanceOf[Join]) =>
      filter.mapExpressions(writeOut(_, isSweepable))
    case node => node.mapExpressions(writeOut(_))
  }
}
