// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Spark's NEAREST BY join, which these versions do not have. */
private[intervalsweep] object NearestBy {
  def unapply(plan: LogicalPlan): Option[(JoinType, Int, Expression, Boolean)] = None
}
