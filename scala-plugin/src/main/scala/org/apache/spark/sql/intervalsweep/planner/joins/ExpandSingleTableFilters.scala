// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, Filter, LateralJoin, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.intervalsweep.functions.distances.{ConstantBound, DifferenceAtMost}

/**
 * An optimizer rule: writes out the relations of a filter over one table, so that Spark takes the
 * comparisons as what they are: prunes partitions and row groups by them, pushes them to the source
 * and infers from them. Above a join a relation may yet become the join's condition, and stays;
 * where it turns out to be over one side, Spark pushes it below the join, and here it is again.
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

  /** In EXISTS a relation may be over columns of the query outside, or of the other table. */
  private def isOver(p: IntervalPredicate, columns: AttributeSet): Boolean =
    p.resolved && p.references.subsetOf(columns) &&
      !p.containsPattern(TreePattern.OUTER_REFERENCE)

  /** What is constant has been computed, unless it fails. */
  private def isFolded(p: IntervalPredicate): Boolean =
    p.children.forall(e => !e.foldable || e.isInstanceOf[Literal])

  private def constantBound(conjunct: Expression): Expression = conjunct match {
    case difference: DifferenceAtMost => ConstantBound.of(difference).getOrElse(difference)
    case comparison => comparison
  }
}
