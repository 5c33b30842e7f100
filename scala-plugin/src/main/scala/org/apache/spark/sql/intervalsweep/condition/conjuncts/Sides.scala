// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.conjuncts

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression, Literal, ScalarSubquery}
import org.apache.spark.sql.catalyst.trees.TreePattern._
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}

/** The two sides of a join, by their columns. Says to which side an expression belongs. */
private[condition] case class Sides(left: AttributeSet, right: AttributeSet) {

  /**
   * The side whose attributes the expression reads. None if the expression reads both sides or
   * none, or cannot be computed below the join.
   */
  def of(e: Expression): Option[Side] =
    if (e.references.isEmpty || !isMovable(e)) None
    else if (e.references.subsetOf(left)) Some(LeftSide)
    else if (e.references.subsetOf(right)) Some(RightSide)
    else None

  def isConstant(e: Expression): Boolean = e.references.isEmpty && isMovable(e)

  /** True for expressions that read both sides or cannot be moved below the join. */
  def isAcross(e: Expression): Boolean = of(e).isEmpty && !isConstant(e)

  private def isMovable(e: Expression): Boolean = e.deterministic && {
    val own = withoutValues(e)
    !own.containsAnyPattern(PLAN_EXPRESSION, OUTER_REFERENCE, AGGREGATE_EXPRESSION) &&
    !own.containsAnyPattern(SparkShims.pythonPatterns: _*)
  }

  /**
   * The expression without scalar subqueries that read no outer columns: they are constants when
   * the join starts. The patterns of a subquery include those of its plan.
   */
  private def withoutValues(e: Expression): Expression =
    if (!e.containsPattern(PLAN_EXPRESSION)) e
    else e.transform { case s: ScalarSubquery if !s.isCorrelated => Literal(null, s.dataType) }
}
