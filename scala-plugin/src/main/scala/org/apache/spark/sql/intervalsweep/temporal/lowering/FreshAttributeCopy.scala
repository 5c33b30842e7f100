// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.ExistenceJoin
import org.apache.spark.sql.catalyst.plans.logical.{Join, LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{History, Period}

/**
 * A copy of a history in which every column has a new id, as if the query had named the rows a
 * second time.
 */
private[temporal] class FreshAttributeCopy(original: History) {

  private val ids = mutable.Map.empty[ExprId, ExprId]

  val history: History = History(
    renewed(original.plan),
    original.values.map(column),
    original.period.map(p => Period(column(p.start), column(p.end))))

  /**
   * Rewrites an expression to the new columns. Columns that the original does not return stay
   * unchanged: they may belong to another plan, even if the original reads them below.
   */
  def of(expression: Expression): Expression = expression.transformUp {
    case attribute: AttributeReference if original.plan.outputSet.contains(attribute) =>
      column(attribute)
  }

  private def column(attribute: Attribute): Attribute = attribute.withExprId(id(attribute.exprId))

  private def inPlan(expression: Expression): Expression = expression.transformUp {
    case attribute: AttributeReference => column(attribute)
    case alias: Alias => withNewId(alias)
    case subquery: SubqueryExpression => subquery.withNewPlan(renewed(subquery.plan))
  }

  private def renewed(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case leaf: LeafNode => renewedLeaf(leaf)
    // The column of an existence join is in its join type.
    case join @ Join(_, _, ExistenceJoin(exists), _, _) =>
      join.copy(joinType = ExistenceJoin(column(exists))).mapExpressions(inPlan)
    case node => node.mapExpressions(inPlan)
  }

  /**
   * Most leaves take new ids in their expressions. The others keep their columns, below a
   * projection with new ids.
   */
  private def renewedLeaf(leaf: LeafNode): LogicalPlan = {
    val mapped = leaf.mapExpressions(inPlan)
    if (mapped.output.map(_.exprId) == leaf.output.map(a => id(a.exprId))) mapped
    else Project(leaf.output.map(a => Alias(a, a.name)(id(a.exprId))), leaf)
  }

  private def id(old: ExprId): ExprId = ids.getOrElseUpdate(old, NamedExpression.newExprId)

  private def withNewId(alias: Alias): Alias = alias.copy()(
    id(alias.exprId),
    alias.qualifier,
    alias.explicitMetadata,
    alias.nonInheritableMetadataKeys)
}

private[temporal] object FreshAttributeCopy {
  def apply(rows: History): FreshAttributeCopy = new FreshAttributeCopy(rows)
}
