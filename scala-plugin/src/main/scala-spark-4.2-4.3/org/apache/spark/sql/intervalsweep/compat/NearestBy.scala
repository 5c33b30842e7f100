// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.{JoinType, NearestByDistance}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, NearestByJoin}

/** Spark's NEAREST BY join. */
private[intervalsweep] object NearestBy {

  /**
   * The type of the join, the number of matches, the ranking expression, and whether the least
   * values rank first.
   */
  def unapply(plan: LogicalPlan): Option[(JoinType, Int, Expression, Boolean)] = plan match {
    case join: NearestByJoin => Some((
        join.joinType,
        join.numResults,
        join.rankingExpression,
        join.direction == NearestByDistance))
    case _ => None
  }
}
