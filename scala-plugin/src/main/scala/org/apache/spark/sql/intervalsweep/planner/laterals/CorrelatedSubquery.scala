// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * A correlated subquery, taken apart: rows without outer references, and the conditions between
 * them and the outer rows. The rule runs before predicates are pushed down. So a condition may
 * stand above comma joins, aliases and computed columns.
 *
 * @param plan       rows without outer references, filtered by the predicates on their columns
 * @param conditions the other predicates: those with [[OuterReference]]s, and those that read no
 *                   column or are not deterministic
 * @param values     columns that are computed with [[OuterReference]]s, and their expressions
 */
private[planner] case class CorrelatedSubquery(
    plan: LogicalPlan,
    conditions: Seq[Expression],
    values: AttributeMap[Expression]) {

  /** Rewrites an expression over the subquery's columns as one over `plan` and the outer rows. */
  def read(e: Expression): Expression = e.transform { case a: Attribute => values.getOrElse(a, a) }

  def columns: AttributeSet = AttributeSet((conditions ++ values.values).flatMap(_.references))
}

private[planner] object CorrelatedSubquery extends PredicateHelper {

  /** None if an outer reference is not part of a condition, for example below a LIMIT. */
  def of(plan: LogicalPlan): Option[CorrelatedSubquery] = plan match {
    case _ if !refersOut(plan) => Some(CorrelatedSubquery(plan, Nil, AttributeMap.empty))
    case SubqueryAlias(_, child) => of(child)
    case Filter(condition, child) => of(child).map(where(condition, _))
    case Project(columns, child) => of(child).flatMap(select(columns, _))
    case Join(left, right, kind: InnerLike, condition, hint) => for {
        l <- of(left)
        r <- of(right)
        both = CorrelatedSubquery(
          Join(l.plan, r.plan, kind, None, hint),
          l.conditions ++ r.conditions,
          l.values ++ r.values)
      } yield condition.fold(both)(where(_, both))
    case _ => None
  }

  def refersOut(plan: LogicalPlan): Boolean = plan.exists(_.expressions.exists(isOuter))

  private def isOuter(e: Expression): Boolean = e.exists(_.isInstanceOf[OuterReference])

  private def where(condition: Expression, rows: CorrelatedSubquery): CorrelatedSubquery = {
    val (own, others) = splitConjunctivePredicates(rows.read(condition)).partition(isOfPlan)
    val plan = own.reduceOption(And).fold(rows.plan) { filter =>
      rows.plan match {
        case join @ Join(_, _, _, None, _) => join.copy(condition = Some(filter))
        case other => Filter(filter, other)
      }
    }
    rows.copy(plan = plan, conditions = rows.conditions ++ others)
  }

  private def isOfPlan(condition: Expression): Boolean =
    !isOuter(condition) && condition.deterministic && condition.references.nonEmpty

  private def select(
      columns: Seq[NamedExpression],
      rows: CorrelatedSubquery): Option[CorrelatedSubquery] = {
    val read = columns.map {
      case a: Attribute => rows.values.get(a).fold[NamedExpression](a)(named(_, a))
      case column => rows.read(column).asInstanceOf[NamedExpression]
    }
    val (across, own) = read.partition(isOuter)
    val values = AttributeMap(across.map {
      case a: Alias => a.toAttribute -> a.child
      case reference => reference.toAttribute -> reference
    })
    val result = CorrelatedSubquery(rows.plan, rows.conditions, rows.values ++ values)
    val kept = AttributeSet(own.map(_.toAttribute))
    val more = rows.plan.output.filter(a => result.columns.contains(a) && !kept.contains(a))
    Option.when(across.forall(isPlain) && columns.forall(_.deterministic))(
      result.copy(plan = Project(own ++ more, rows.plan)))
  }

  private def named(value: Expression, as: Attribute): Alias =
    Alias(value, as.name)(as.exprId, as.qualifier)

  /**
   * Whether the expression is deterministic and has no subquery, which would have outer references.
   */
  def isPlain(e: Expression): Boolean =
    e.deterministic && !e.exists(_.isInstanceOf[SubqueryExpression])

  /** Rewrites an expression of the subquery as one over other columns and the base rows. */
  def rewritten(e: Expression, columns: Map[Attribute, Expression]): Expression =
    e.transform {
      case OuterReference(column) => column.toAttribute
      // Between shows operands that are not its children, so the rewrite would not reach them.
      case between: Between => between.replacement
      case a: Attribute => columns.getOrElse(a, a)
    }

  def valueOf(e: NamedExpression): Expression = e match {
    case Alias(child, _) => child
    case other => other
  }
}
