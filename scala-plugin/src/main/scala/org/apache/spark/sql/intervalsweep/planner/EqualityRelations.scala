// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner

import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.condition.EndpointEncoding
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * Writes out the relations that are nothing but equalities (MEETS, MET_BY, EQUALS), so that Spark
 * takes them as what they are, pushes them to the source and infers from them. Those of a join that
 * is swept stay, and those that may yet become the condition of a join: in a filter above one, in
 * EXISTS.
 */
object EqualityRelations extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case join: Join if areIn(join) && IntervalSweepStrategy.isSwept(join) => join
    case filter: Filter if filter.child.exists(_.isInstanceOf[Join]) =>
      filter.mapExpressions(writeOut(_, isSweepable))
    case node => node.mapExpressions(writeOut(_, _ => false))
  }

  /** Whether a join demands such relations, so that Spark could join by their endpoints. */
  def areIn(join: Join): Boolean =
    join.condition.exists(splitConjunctivePredicates(_).exists(isOne))

  /**
   * The join with its relations written out, if it has any. To be planned as it is: what the
   * optimizer does to the keys of a join that it knows of is done.
   */
  def writtenOut(join: Join): Option[LogicalPlan] = Option.when(areIn(join)) {
    val written = join.copy(condition = join.condition.map(writeOut(_, _ => false)))
    written.copyTagsFrom(join)
    NormalizeFloatingNumbers(written)
  }

  private def writeOut(e: Expression, isKept: IntervalPredicate => Boolean): Expression = e match {
    case subquery: SubqueryExpression => subquery.mapChildren(writeOut(_, isSweepable))
    case p: IntervalPredicate if isOne(p) && !isKept(p) => p.conjunction
    case other => other.mapChildren(writeOut(_, isKept))
  }

  private def isOne(e: Expression): Boolean = e match {
    case p: IntervalPredicate => p.resolved && p.isEquality
    case _ => false
  }

  private def isSweepable(p: IntervalPredicate): Boolean =
    p.children.forall(endpoint => EndpointEncoding.isSupported(endpoint.dataType))
}
