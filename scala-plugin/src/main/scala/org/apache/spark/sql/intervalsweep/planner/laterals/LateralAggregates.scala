// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{LATERAL_JOIN, SCALAR_SUBQUERY}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalPlan

/**
 * A resolution rule: turns correlated subqueries with aggregates into aggregates of a join. The
 * subquery aggregates, for each row of `base`, the rows of another table that an interval condition
 * admits: a window union, the online interval join of Scale-OIJ.
 *
 * {{{
 *   base LEFT JOIN LATERAL (               Aggregate [row, k, ts], [k, ts, sum(v), count(probe.ts)]
 *     SELECT sum(v), count(*) FROM probe     Join LEFT OUTER, probe.k = k AND probe.ts BETWEEN ...
 *     WHERE probe.k = base.k           ->      Project [k, ts, row id AS row] base
 *       AND probe.ts BETWEEN ...) ON true      probe
 * }}}
 *
 * The rule runs before Spark's decorrelation, which would aggregate the other table by all
 * correlated columns: the condition would lose its equi-join key, and each row would be looked up
 * once more. A row id, which is never returned, keeps identical rows apart. The result is Spark's:
 * a row without a match has one result row, with count 0 and NULL, and no function sees the NULLs
 * of the outer join.
 *
 * `base` may be a stream: its rows get their aggregates in the micro-batch in which they arrive. If
 * the other table is a stream, later rows may change a window: see [[StreamWindows]]. Valid-time
 * relations are left out, because each instant has a window of its own.
 */
object LateralAggregates extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    // Wait for the whole plan: nodes above may still ask for columns that nobody has read so far.
    if (!conf.getConf(IntervalSweepConf.Enabled) || !plan.resolved) plan
    else plan.resolveOperatorsUpWithPruning(_.containsAnyPattern(LATERAL_JOIN, SCALAR_SUBQUERY))(
      ofJoin.orElse(scalars.replaced))

  private val ofJoin: PartialFunction[LogicalPlan, LogicalPlan] = {
    case join: LateralJoin =>
      val on = join.condition.filter(_ != TrueLiteral)
      rewritten(join.left, join.right.plan, join.joinType, on)
        .orElse(grouped(join.left, join.right.plan, join.joinType, on))
        .fold[LogicalPlan](join)(Project(join.output, _))
  }

  private val scalars = new ScalarSubqueries((base, subquery) =>
    rewritten(base, subquery, LeftOuter, None).filter(_ => NearestLateral.isScalar(subquery)))

  /** The outer rows with the columns of a subquery added; None if it is left to Spark. */
  private def rewritten(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    if (!isSupported(base, subquery, joinType)) None
    else limited(base, subquery, joinType, on).orElse(aggregated(base, subquery, joinType, on))

  /** A subquery with ORDER BY and LIMIT. */
  private def limited(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    NearestLateral.of(base, subquery).filter(_ => on.isEmpty || joinType != LeftOuter)
      .flatMap(_.over(base, if (joinType == LeftOuter) LeftOuter else Inner))
      .map(rows => on.fold(rows)(Filter(_, rows)))

  private def aggregated(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    for {
      lateral <- LateralWindow.of(base, subquery)
      if lateral.results.forall(CorrelatedSubquery.isPlain)
      rows <- NearestLateral.of(lateral).flatMap(_.over(base, LeftOuter))
        .orElse(ofPairs(base, lateral))
    } yield lateral.over(rows, joinType, on)

  /** A subquery with GROUP BY, which may have several rows. */
  private def grouped(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] =
    if (!isSupported(base, subquery, joinType) || on.isDefined && joinType == LeftOuter) None
    else GroupedLateral.of(base, subquery, joinType).map(_.over(base, joinType))
      .map(rows => on.fold(rows)(Filter(_, rows)))

  private def ofPairs(base: LogicalPlan, lateral: LateralWindow): Option[LogicalPlan] =
    LateralToJoin.of(base, lateral.conditions, lateral.probe, lateral.limit).filter(join =>
      lateral.functions.forall(join.takes))
      .map(withColumns(base, lateral, _))

  private def isSupported(base: LogicalPlan, subquery: LogicalPlan, joinType: JoinType): Boolean =
    (joinType == LeftOuter || joinType.isInstanceOf[InnerLike]) &&
      !CorrelatedSubquery.refersOut(base) && !subquery.isStreaming &&
      !Seq(base, subquery).exists(TemporalPlan.isMarked)

  private def withColumns(
      base: LogicalPlan,
      lateral: LateralWindow,
      join: LateralToJoin): LogicalPlan = {
    val computed =
      lateral.functions.map(f => f.resultId -> Alias(join.overJoin(f), f.prettyName)())
    val column = computed.map { case (id, alias) => id -> alias.toAttribute }.toMap
    val values = lateral.columns(_.transform { case f: AggregateExpression => column(f.resultId) })
    Project(base.output ++ values, join.aggregate(computed.map(_._2)))
  }
}
