// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LateralJoin, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{LATERAL_JOIN, SCALAR_SUBQUERY}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable
import org.apache.spark.sql.intervalsweep.planner.laterals.{
  LateralWindow, NearestLateral, ScalarSubqueries, WindowCounts
}
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * Replaces window unions of two streams, which Spark refuses, by a stateful operator:
 * {{{
 *   S LEFT JOIN LATERAL (SELECT sum(v), count(*) FROM R
 *     WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL ... AND S.ts) ON true
 *
 *   Project [S.*, the aggregates]
 *     TransformWithState [partition] WindowUnion
 *       Union
 *         PartitionedBatches  Project [S.*]           S
 *         PartitionedBatches  Project [k, ts, v]      R
 * }}}
 * This is a rule of the analyzer: Spark checks there what it supports, and takes the lateral
 * subquery apart soon after.
 */
object StreamWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.Enabled)) plan
    else plan.resolveOperatorsUpWithPruning(_.containsAnyPattern(LATERAL_JOIN, SCALAR_SUBQUERY))(
      ofJoin.orElse(scalars.replaced))

  private val ofJoin: PartialFunction[LogicalPlan, LogicalPlan] = {
    case join @ LateralJoin(base, subquery, kind @ (LeftOuter | _: InnerLike), condition)
        if join.resolved =>
      val on = condition.filter(InlineReplaceable(_) != Literal.TrueLiteral)
      joined(base, subquery.plan, kind, on).getOrElse(join)
  }

  private val scalars = new ScalarSubqueries(joined(_, _, LeftOuter, None))

  private def joined(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    if (base.isStreaming && subquery.isStreaming)
      limited(base, subquery, joinType, on).orElse(aggregated(base, subquery, joinType, on))
    else None

  /** A subquery with ORDER BY and LIMIT. */
  private def limited(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    NearestLateral.of(base, subquery).map { lateral =>
      if (on.isDefined && joinType == LeftOuter) StreamErrors.unsupported(
        "A condition after ON with a LIMIT in the subquery",
        "write ON true, and the condition into the subquery")
      val kind = if (joinType == LeftOuter) LeftOuter else Inner
      val rows = StreamMatches(lateral.rows(base, kind))
      on.fold(rows)(Filter(_, rows))
    }

  private def aggregated(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    LateralWindow.of(base, subquery).map(_.inlined).map { lateral =>
      checkRevisions(lateral, on)
      lateral.over(
        lastRow(base, lateral).getOrElse(aggregates(base, lateral)),
        joinType,
        on)
    }

  /** `max_by(.., ts)` of a window: its last row. */
  private def lastRow(base: LogicalPlan, lateral: LateralWindow): Option[LogicalPlan] =
    NearestLateral.of(lateral).filter(l => StreamOperator.isWatermarked(l.order.value))
      .map(last => StreamMatches(last.rows(base, LeftOuter)))

  private def aggregates(base: LogicalPlan, lateral: LateralWindow): LogicalPlan =
    if (WindowCounts.isAsked(base, lateral, WindowClocks.find(base, lateral).isDefined))
      WindowCounts(base, lateral)
    else new WindowUnionPlan(base, lateral).plan

  /** A condition would hide a later revision, but could not take back an earlier one. */
  private def checkRevisions(lateral: LateralWindow, on: Option[Expression]): Unit =
    if (lateral.isEager) {
      if (lateral.having.isDefined || on.isDefined) StreamErrors.unsupported(
        "a condition on revisions (HAVING, a filter above the aggregates, or ON)",
        "leave it out, and filter the rows that the sink keeps")
      if (lateral.limit.isDefined) StreamErrors.unsupported(
        "ORDER BY and LIMIT below window_revision() or window_is_final()",
        "leave these functions out, so that each row is emitted once")
    }
}
