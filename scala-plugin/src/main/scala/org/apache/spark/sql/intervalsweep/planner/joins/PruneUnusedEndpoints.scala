// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * An optimizer rule: removes endpoints that a relation does not compare.
 * `ISEQL_START_PRECEDING(r.ts, r.te, s.ts, s.te)` does not depend on `s.te`. With that column in
 * the expression, Spark would scan and send it, and might find the table too large for a broadcast.
 * Fields of a struct stay if the relation compares another field of the struct: Spark 4.3 loses
 * track of a single field in a correlated EXISTS, with the plain inequality as well
 * (INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND).
 */
object PruneUnusedEndpoints extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case predicate: IntervalPredicate if predicate.resolved => predicate.withoutUnread
  }
}
