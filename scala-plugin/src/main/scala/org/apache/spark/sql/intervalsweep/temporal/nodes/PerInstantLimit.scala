// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._

/** An ORDER BY with a LIMIT or an OFFSET, which apply to the rows of each instant. */
private[temporal] case class PerInstantLimit(
    limit: Option[Expression],
    offset: Option[Expression],
    sort: Sort,
    columns: Option[Seq[NamedExpression]])

private[temporal] object PerInstantLimit {

  def unapply(plan: LogicalPlan): Option[PerInstantLimit] = plan match {
    case GlobalLimit(limit, LocalLimit(_, Offset(offset, Ordered(sort, columns)))) =>
      Some(PerInstantLimit(Some(limit), Some(offset), sort, columns))
    case GlobalLimit(limit, LocalLimit(_, Ordered(sort, columns))) =>
      Some(PerInstantLimit(Some(limit), None, sort, columns))
    case Offset(offset, Ordered(sort, columns)) =>
      Some(PerInstantLimit(None, Some(offset), sort, columns))
    case _ => None
  }

  private object Ordered {
    def unapply(plan: LogicalPlan): Option[(Sort, Option[Seq[NamedExpression]])] = plan match {
      case sort: Sort if sort.global => Some((sort, None))
      case Project(columns, sort: Sort) if sort.global => Some((sort, Some(columns)))
      // A subquery in ORDER BY has become a join, whose columns are projected away.
      case Project(columns, Project(same, sort: Sort))
          if sort.global && same.forall(_.isInstanceOf[Attribute]) => Some((sort, Some(columns)))
      case _ => None
    }
  }
}
