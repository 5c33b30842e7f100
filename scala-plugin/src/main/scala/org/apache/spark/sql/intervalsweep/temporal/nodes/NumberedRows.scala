// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * A filter that keeps the first rows of `row_number() OVER (ORDER BY ...)`.
 *
 * @param number the column of the row number
 * @param most   the greatest row number that the filter keeps
 */
private[temporal] case class NumberedRows(
    filter: Filter,
    window: Window,
    number: Attribute,
    most: Int) {

  /** The filter and its projections over other rows than those of the window. */
  def over(rows: LogicalPlan, more: Seq[Attribute]): LogicalPlan = {
    def rebuilt(plan: LogicalPlan): LogicalPlan = plan match {
      case Project(columns, child) => Project(columns ++ more, rebuilt(child))
      case _ => rows
    }
    Filter(filter.condition, rebuilt(filter.child))
  }
}

private[temporal] object NumberedRows extends PredicateHelper {

  def unapply(plan: LogicalPlan): Option[NumberedRows] = plan match {
    case filter @ Filter(condition, below) =>
      for {
        window <- windowOf(below)
        number <- rowNumber(window)
        most <- splitConjunctivePredicates(condition).flatMap(upTo(_, number)).minOption
      } yield NumberedRows(filter, window, number, most)
    case _ => None
  }

  private def windowOf(plan: LogicalPlan): Option[Window] = plan match {
    case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) => windowOf(child)
    case window: Window => Some(window)
    case _ => None
  }

  private def rowNumber(window: Window): Option[Attribute] = window.windowExpressions match {
    case Seq(column @ Alias(WindowExpression(RowNumber(), _), _))
        if window.partitionSpec.isEmpty && window.orderSpec.nonEmpty => Some(column.toAttribute)
    case _ => None
  }

  private def upTo(condition: Expression, number: Attribute): Option[Int] = condition match {
    case LessThanOrEqual(n: Attribute, IntegerLiteral(most)) if n.semanticEquals(number) =>
      Some(most)
    case LessThan(n: Attribute, IntegerLiteral(above)) if n.semanticEquals(number) =>
      Some(above - 1)
    case EqualTo(n: Attribute, IntegerLiteral(one)) if n.semanticEquals(number) => Some(one)
    case _ => None
  }
}
