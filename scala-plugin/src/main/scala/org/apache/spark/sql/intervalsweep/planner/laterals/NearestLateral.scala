// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression, Complete, MaxBy, MinBy
}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.planner.nearest.NearestMatchesStrategy
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches

/**
 * A correlated subquery that reads the last or first matches of each base row by one value, as a
 * [[NearestMatches]].
 *
 * {{{
 *   base LEFT JOIN LATERAL (
 *     SELECT price AS p FROM prices              columns     price AS p
 *     WHERE prices.id = base.id            ->    conditions  prices.id = base.id, ...
 *       AND prices.at <= base.at                 order       the last one by prices.at
 *     ORDER BY at DESC LIMIT 1)
 * }}}
 *
 * All expressions are over the columns of the base rows and of `probe`.
 *
 * @param columns the columns of the subquery, with their values; its argument makes the value of a
 *                match NULL for a row without a match
 */
private[planner] case class NearestLateral(
    columns: (Expression => Expression) => Seq[(Attribute, Expression)],
    conditions: Seq[Expression],
    probe: LogicalPlan,
    order: MatchOrder) {

  /** The base rows with the columns of the subquery added. None if all pairs would be made. */
  def over(base: LogicalPlan, joinType: JoinType): Option[LogicalPlan] =
    Some(rows(base, joinType)).filter(_.child match {
      case node: NearestMatches => NearestMatchesStrategy.isBounded(node)
      case _ => false
    })

  /** The base rows with the columns of the subquery added, over a [[NearestMatches]]. */
  def rows(base: LogicalPlan, joinType: JoinType): Project = {
    val marker = Alias(TrueLiteral, "matched")()
    val node = order.nearest(
      base,
      Project(probe.output :+ marker, probe),
      joinType,
      conditions.reduceOption(And).getOrElse(TrueLiteral))
    // The values are computed for the kept matches only, and are NULL for a row without a match.
    val isMatch = IsNotNull(node.output.last)
    def ofMatch(e: Expression) = e match {
      case a: Attribute if probe.outputSet.contains(a) => a
      case _ if joinType != LeftOuter => e
      case _ => LateralWindow.orNull(isMatch, e)
    }
    val added = columns(ofMatch).map { case (column, e) => LateralWindow.named(e, column) }
    Project(base.output ++ added, node)
  }
}

private[planner] object NearestLateral {

  /** None if the subquery has another form, or refers to columns that are not of `base`. */
  def of(base: LogicalPlan, subquery: LogicalPlan): Option[NearestLateral] =
    if (LateralWindow.refersFurther(base, subquery)) None else limited(base, subquery)

  /** Whether the subquery has no LIMIT that lets several rows pass. */
  def isScalar(subquery: LogicalPlan): Boolean = LimitedRows.of(subquery).forall(_.count == 1)

  /** A subquery with ORDER BY and LIMIT. */
  private def limited(base: LogicalPlan, subquery: LogicalPlan): Option[NearestLateral] = for {
    limited <- LimitedRows.of(subquery)
    found <- CorrelatedSubquery.of(limited.rows)
    probe = LateralWindow.renewed(base, found.plan)
    read = LateralWindow.reader(found, probe)
    columns = subquery.output.zip(limited.columns(read).map(_._2))
    order = limited.matchOrder(read)
    if columns.forall(c => CorrelatedSubquery.isPlain(c._2)) && order.isOf(probe)
  } yield NearestLateral(
    ofMatch => columns.map { case (column, e) => column -> ofMatch(e) },
    found.conditions.map(read),
    probe,
    order)

  /**
   * A subquery whose functions all are `max_by(.., value)`, or all `min_by(.., value)`: their values
   * are those of the last match, or of the first one.
   */
  def of(lateral: LateralWindow): Option[NearestLateral] = {
    val found = lateral.functions.map(f => if (isWhole(f)) extreme(f) else None)
    for {
      (_, value, fromEnd) <- found.headOption.flatten
      if found.forall(_.exists { case (_, v, end) => v.semanticEquals(value) && end == fromEnd })
      order = MatchOrder(value, fromEnd, ties = Nil, count = 1)
      if lateral.having.isEmpty && lateral.limit.isEmpty && order.isOf(lateral.probe)
    } yield {
      val valueOf = lateral.functions.zip(found.flatten).map { case (f, (x, _, _)) =>
        f.resultId -> x
      }.toMap
      // A row without a match has a result, too: that of functions that are NULL.
      def columns(ofMatch: Expression => Expression) =
        lateral.output.zip(lateral.results).map { case (column, result) =>
          column -> CorrelatedSubquery.valueOf(result).transform {
            case f: AggregateExpression => ofMatch(valueOf(f.resultId))
          }
        }
      NearestLateral(columns, lateral.conditions, lateral.probe, order)
    }
  }

  private def isWhole(f: AggregateExpression): Boolean =
    f.mode == Complete && f.filter.isEmpty

  private def extreme(f: AggregateExpression): Option[(Expression, Expression, Boolean)] =
    f.aggregateFunction match {
      case MaxBy(x, value) => Some((x, value, true))
      case MinBy(x, value) => Some((x, value, false))
      case _ => None
    }
}
