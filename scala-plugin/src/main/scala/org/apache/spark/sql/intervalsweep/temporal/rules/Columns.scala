// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * Matches any plan, without the projections on top that return exactly its columns, as `SELECT *`
 * does.
 */
private[rules] object Columns {
  def unapply(plan: LogicalPlan): Some[LogicalPlan] = Some(below(plan))

  private def below(plan: LogicalPlan): LogicalPlan = plan match {
    case Project(columns, child) if isAll(columns, child) => below(child)
    case other => other
  }

  private def isAll(columns: Seq[Any], child: LogicalPlan): Boolean =
    columns.size == child.output.size && columns.zip(child.output).forall {
      case (column: Attribute, own) => column.exprId == own.exprId
      case _ => false
    }
}
