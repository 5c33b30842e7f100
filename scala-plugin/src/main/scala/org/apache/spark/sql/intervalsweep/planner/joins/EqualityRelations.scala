// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/** Relations that consist of equalities only: MEETS, MET_BY, EQUALS. */
object EqualityRelations extends PredicateHelper {

  /**
   * Whether a conjunct of the join condition is such a relation. Spark could then use its endpoints
   * as equi-join keys.
   */
  def areIn(join: Join): Boolean =
    join.condition.exists(splitConjunctivePredicates(_).exists(isOne))

  /**
   * The join with these relations expanded to equalities; None if it has none of them. The result
   * can be planned without another run of the optimizer: the optimizer's treatment of
   * floating-point equi-join keys, NormalizeFloatingNumbers, is applied here.
   */
  def writtenOut(join: Join): Option[LogicalPlan] = Option.when(areIn(join)) {
    val written = join.copy(condition = join.condition.map(writeOut(_)))
    written.copyTagsFrom(join)
    NormalizeFloatingNumbers(written)
  }

  /**
   * Expands the relations in an expression.
   *
   * @param isKept true for relations that are not expanded
   */
  def writeOut(e: Expression, isKept: IntervalPredicate => Boolean = _ => false): Expression =
    e match {
      case subquery: SubqueryExpression => subquery.mapChildren(writeOut(_, isSweepable))
      case p: IntervalPredicate if isOne(p) && !isKept(p) => p.conjunction
      case other => other.mapChildren(writeOut(_, isKept))
    }

  private def isOne(e: Expression): Boolean = e match {
    case p: IntervalPredicate => p.resolved && p.isEquality
    case _ => false
  }

  /** Whether a join by this relation may be swept: the encoding of its endpoints must be exact. */
  def isSweepable(p: IntervalPredicate): Boolean =
    p.children.forall(endpoint => EndpointEncoding.isExact(endpoint.dataType))
}
