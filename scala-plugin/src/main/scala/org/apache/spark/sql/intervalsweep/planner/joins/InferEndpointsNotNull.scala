// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * An optimizer rule: adds IS NOT NULL for each column that an [[IntervalPredicate]] compares,
 * because a row that the predicate keeps has no NULL in these columns. Spark infers the same from
 * plain comparisons. It then pushes the null checks below the join, and turns an outer join whose
 * result is filtered into an inner join.
 */
object InferEndpointsNotNull extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    // Without constraints, the rule cannot tell which columns the children know to be not NULL.
    if (!conf.constraintPropagationEnabled) plan
    else plan.transformUp {
      case filter @ Filter(condition, child) =>
        val inferred = notNull(condition, Seq(child))
        if (inferred.isEmpty) filter else filter.copy(condition = all(inferred, condition))
      case join @ Join(left, right, joinType, Some(condition), _) =>
        val inferred = notNull(condition, pushable(joinType, left, right))
        if (inferred.isEmpty) join else join.copy(condition = Some(all(inferred, condition)))
    }

  /** The sides into which Spark pushes a predicate of the ON clause. */
  private def pushable(
      joinType: JoinType,
      left: LogicalPlan,
      right: LogicalPlan): Seq[LogicalPlan] =
    joinType match {
      case _: InnerLike | LeftSemi => Seq(left, right)
      case LeftOuter | LeftAnti => Seq(right)
      case RightOuter => Seq(left)
      case _ => Seq.empty
    }

  private def notNull(condition: Expression, inputs: Seq[LogicalPlan]): Seq[Expression] = {
    val conjuncts = splitConjunctivePredicates(condition)
    val compared = AttributeSet(
      conjuncts.collect { case p: IntervalPredicate => p.conjuncts.flatMap(decisive) }.flatten)
    if (compared.isEmpty) Seq.empty
    else {
      val known = ExpressionSet(conjuncts ++ inputs.flatMap(_.constraints))
      inputs.flatMap(_.output)
        .filter(a => a.nullable && compared.contains(a))
        .map(IsNotNull(_))
        .filterNot(known.contains)
    }
  }

  /** The columns that make the expression NULL if one of them is NULL. */
  private def decisive(e: Expression): Seq[Attribute] = e match {
    case attribute: Attribute => Seq(attribute)
    case _ if e.nullIntolerant => e.children.flatMap(decisive)
    case _ => Seq.empty
  }

  private def all(inferred: Seq[Expression], condition: Expression): Expression =
    (inferred :+ condition).reduce(And)
}
