// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.planner.joins.EqualityRelations.{
  areIn, isSweepable, writeOut
}

/**
 * Writes out the relations that are nothing but equalities, so that Spark takes them as what they
 * are, pushes them to the source and infers from them. Those of a join that is swept stay, and those
 * that may yet become the condition of a join: in a filter above one, in EXISTS.
 */
object ExpandEqualityRelations extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case join: Join if areIn(join) && IntervalSweepStrategy.isSwept(join) => join
    case filter: Filter if filter.child.exists(_.isInstanceOf[Join]) =>
      filter.mapExpressions(writeOut(_, isSweepable))
    case node => node.mapExpressions(writeOut(_))
  }
}
