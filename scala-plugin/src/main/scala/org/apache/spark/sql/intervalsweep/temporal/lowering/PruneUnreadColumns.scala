// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.nodes.PeriodSweep

/**
 * Removes columns below joins that cannot be compared, such as a MAP, if the query does not read
 * them. A join that is not by keys alone compares whole rows.
 */
private[temporal] object PruneUnreadColumns {

  def apply(plan: LogicalPlan): LogicalPlan = pruned(plan, plan.outputSet)

  /** @param read the columns of the plan that the operators above read */
  private def pruned(plan: LogicalPlan, read: AttributeSet): LogicalPlan = plan match {
    case _: Project | _: Aggregate => below(plan, plan.references)
    case _: Filter | _: Sort | _: Window | _: Generate | _: GlobalLimit | _: LocalLimit |
        _: Offset =>
      below(plan, read ++ plan.references)
    case join: Join =>
      val needed = read ++ join.references
      join.withNewChildren(join.children.map(child => comparable(pruned(child, needed), needed)))
    case _ => plan.mapChildren(child => pruned(child, child.outputSet))
  }

  private def below(plan: LogicalPlan, read: AttributeSet): LogicalPlan =
    plan.mapChildren(pruned(_, read))

  private def comparable(side: LogicalPlan, read: AttributeSet): LogicalPlan = {
    val kept = side.output.filter(c => read.contains(c) || PeriodSweep.isComparable(c))
    if (kept.size == side.output.size) side else Project(kept, side)
  }
}
