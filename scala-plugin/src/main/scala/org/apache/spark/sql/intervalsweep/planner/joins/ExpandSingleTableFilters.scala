// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, Filter, LateralJoin, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.intervalsweep.functions.distances.{ConstantBound, DifferenceAtMost}

/**
 * An optimizer rule: expands the relations in a filter over one table to comparisons. Spark then
 * prunes partitions and row groups by the comparisons, pushes them to the source and infers other
 * predicates from them. A relation above a join is not expanded, because it may still become the
 * join condition. If it reads only one side, Spark pushes it below the join, where this rule
 * expands it.
 */
object ExpandSingleTableFilters extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(TreePattern.FILTER)) {
      case filter: Filter if !filter.child.exists(isJoin) =>
        filter.mapExpressions(writeOut(_, filter.child.outputSet))
    }

  private def isJoin(plan: LogicalPlan): Boolean = plan match {
    case _: BinaryNode | _: LateralJoin => true
    case _ => false
  }

  private def writeOut(e: Expression, columns: AttributeSet): Expression = e match {
    case p: IntervalPredicate if isOver(p, columns) && isFolded(p) =>
      p.conjuncts.map(constantBound).reduce(And)
    case other => other.mapChildren(writeOut(_, columns))
  }

  /**
   * Whether the relation reads these columns only. In EXISTS a relation may also read columns of
   * the outer query or of the other table.
   */
  private def isOver(p: IntervalPredicate, columns: AttributeSet): Boolean =
    p.resolved && p.references.subsetOf(columns) &&
      !p.containsPattern(TreePattern.OUTER_REFERENCE)

  /**
   * Whether every constant operand is a literal. Constant folding leaves a constant unfolded only
   * if its evaluation fails.
   */
  private def isFolded(p: IntervalPredicate): Boolean =
    p.children.forall(e => !e.foldable || e.isInstanceOf[Literal])

  private def constantBound(conjunct: Expression): Expression = conjunct match {
    case difference: DifferenceAtMost => ConstantBound.of(difference).getOrElse(difference)
    case comparison => comparison
  }
}
