// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/** Relations that are nothing but equalities: MEETS, MET_BY, EQUALS. */
object EqualityRelations extends PredicateHelper {

  /** Whether a join demands such relations, so that Spark could join by their endpoints. */
  def areIn(join: Join): Boolean =
    join.condition.exists(splitConjunctivePredicates(_).exists(isOne))

  /**
   * The join with its relations written out, if it has any. To be planned as it is: what the
   * optimizer does to the keys of a join that it knows of is done.
   */
  def writtenOut(join: Join): Option[LogicalPlan] = Option.when(areIn(join)) {
    val written = join.copy(condition = join.condition.map(writeOut(_)))
    written.copyTagsFrom(join)
    NormalizeFloatingNumbers(written)
  }

  /** @param isKept which of them stay as they are */
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

  /** Whether a join by such a relation may be swept. */
  def isSweepable(p: IntervalPredicate): Boolean =
    p.children.forall(endpoint => EndpointEncoding.isExact(endpoint.dataType))
}
