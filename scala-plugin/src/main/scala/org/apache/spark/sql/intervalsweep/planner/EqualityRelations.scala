// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner

import org.apache.spark.sql.catalyst.expressions.{And, EqualTo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * Writes out the relations that are nothing but equalities (MEETS, MET_BY, EQUALS), so that Spark
 * plans them as what they are, equi-joins, of any type, and pushes them and infers from them.
 */
object EqualityRelations extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case predicate: IntervalPredicate
        if predicate.resolved && predicate.conjuncts.forall(_.isInstanceOf[EqualTo]) =>
      predicate.conjuncts.reduce(And)
  }
}
