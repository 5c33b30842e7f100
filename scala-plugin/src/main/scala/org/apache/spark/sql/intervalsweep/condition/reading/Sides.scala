// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression}
import org.apache.spark.sql.catalyst.trees.TreePattern._
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}

/** Which side of the join an expression belongs to. */
private[condition] case class Sides(left: AttributeSet, right: AttributeSet) {

  /** The one side whose attributes, and no others, it reads, if it may be computed there. */
  def of(e: Expression): Option[Side] =
    if (e.references.isEmpty || !isMovable(e)) None
    else if (e.references.subsetOf(left)) Some(LeftSide)
    else if (e.references.subsetOf(right)) Some(RightSide)
    else None

  def isConstant(e: Expression): Boolean = e.references.isEmpty && isMovable(e)

  /** Whether it reads both sides, so that it has to be split. */
  def isAcross(e: Expression): Boolean = of(e).isEmpty && !isConstant(e)

  private def isMovable(e: Expression): Boolean =
    e.deterministic &&
      !e.containsAnyPattern(PLAN_EXPRESSION, OUTER_REFERENCE, AGGREGATE_EXPRESSION) &&
      !e.containsAnyPattern(SparkShims.pythonPatterns: _*)
}
