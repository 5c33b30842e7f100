// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches

/**
 * The rows of a subquery with ORDER BY and LIMIT, taken apart. Each part is bottom-up:
 *
 * {{{
 *   SELECT price * 2 AS p FROM prices        above  p
 *   WHERE prices.at <= base.at               order  at DESC
 *   ORDER BY at DESC LIMIT 3           ->    below  price * 2 AS p, at
 *                                            rows   Filter [prices.at <= base.at] prices
 *                                            count  3
 * }}}
 */
private[planner] case class LimitedRows(
    rows: LogicalPlan,
    below: Seq[Project],
    order: Seq[SortOrder],
    above: Seq[Project],
    count: Int) {

  /** @param read rewrites an expression over `rows` as one over the probe and the base rows */
  def matchOrder(read: Expression => Expression): MatchOrder = {
    val values = AttributeMap(sorted(read))
    val by = order.map(o => o.copy(child = CorrelatedSubquery.rewritten(o.child, values)))
    MatchOrder(by.head.child, by.head.direction == Descending, by.tail, count)
  }

  /** The values of the columns above the limit. */
  def columns(read: Expression => Expression): Seq[(Attribute, Expression)] =
    LimitedRows.selected(sorted(read), above)

  private def sorted(read: Expression => Expression): Seq[(Attribute, Expression)] =
    LimitedRows.selected(rows.output.map(a => a -> read(a)), below)
}

private[planner] object LimitedRows {

  def of(plan: LogicalPlan): Option[LimitedRows] = for {
    (above, limited) <- Some(projections(plan, Nil))
    (count, below) <- limit(limited)
    (between, sort) <- Some(projections(below, Nil))
    (order, sorted) <- sort match {
      case s: Sort if s.global && s.order.nonEmpty => Some((s.order, s.child))
      case _ => None
    }
    (computed, rows) = projections(sorted, Nil)
  } yield LimitedRows(rows, computed, order, between ++ above, count)

  private def limit(plan: LogicalPlan): Option[(Int, LogicalPlan)] = plan match {
    case GlobalLimit(IntegerLiteral(n), LocalLimit(IntegerLiteral(m), child)) if n == m && n > 0 =>
      Some((n, child))
    case _ => None
  }

  /** The projections above rows, bottom-up. */
  private def projections(
      plan: LogicalPlan,
      above: Seq[Project]): (Seq[Project], LogicalPlan) = plan match {
    case SubqueryAlias(_, child) => projections(child, above)
    case project: Project => projections(project.child, project +: above)
    case rows => (above, rows)
  }

  private def selected(
      rows: Seq[(Attribute, Expression)],
      projections: Seq[Project]): Seq[(Attribute, Expression)] =
    projections.foldLeft(rows) { (below, project) =>
      val values = AttributeMap(below)
      project.projectList.map { column =>
        column.toAttribute ->
          CorrelatedSubquery.rewritten(CorrelatedSubquery.valueOf(column), values)
      }
    }
}

/**
 * Which of the matches of a row are kept, over columns of the probe rows; see [[NearestMatches]].
 */
private[planner] case class MatchOrder(
    value: Expression,
    fromEnd: Boolean,
    ties: Seq[SortOrder],
    count: Int) {

  def isOf(probe: LogicalPlan): Boolean = value.references.nonEmpty &&
    (value +: ties).forall { e =>
      CorrelatedSubquery.isPlain(e) && e.references.subsetOf(probe.outputSet)
    }

  def nearest(
      left: LogicalPlan,
      right: LogicalPlan,
      joinType: JoinType,
      condition: Expression): NearestMatches =
    NearestMatches(left, right, joinType, condition, value, center = None, fromEnd, ties, count)
}
