// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * An optimizer rule: what a relation does not look at is not read. `ISEQL_START_PRECEDING(r.ts, r.te,
 * s.ts, s.te)` does not depend on `s.te`; with that column in the expression Spark would scan it, send
 * it, and might find the table too large for a broadcast. Fields of a struct of which another field is
 * compared stay: of one field alone Spark 4.3 loses track in a correlated EXISTS, also where the
 * inequality is written out (INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND).
 */
object PruneUnusedEndpoints extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case predicate: IntervalPredicate if predicate.resolved => predicate.withoutUnread
  }
}
