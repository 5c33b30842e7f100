// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin, BinaryNode, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.compat.NearestBy
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalPlan

/**
 * A resolution rule: Spark's own as-of joins (`ASOF JOIN`, `merge_asof` of the pandas API) and
 * nearest-by joins (`NEAREST k BY DISTANCE`) become [[NearestMatches]]. Spark would compare each
 * pair of rows with equal keys.
 *
 * A join is left to Spark if its rows are ranked by anything else than the difference of a value of
 * each side.
 */
object NearestJoins extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.Enabled)) plan
    else plan.resolveOperatorsUp {
      case join: AsOfJoin if isTaken(join) && isSupported(join) && isValid(join) =>
        val conditions = join.asOfCondition +: join.condition.toSeq
        Ranking.of(join, join.orderExpression, isDistance = true)
          .map(nearest(join, join.joinType, conditions, _, count = 1))
          .filter(NearestMatchesStrategy.isSwept)
          .getOrElse(join)
      case join @ NearestBy(joinType, count, ranking, isDistance)
          if isTaken(join) && isSupported(join) =>
        val both = join.asInstanceOf[BinaryNode]
        Ranking.of(both, ranking, isDistance)
          .map(by => nearest(both, joinType, by.known, by, count))
          .filter(NearestMatchesStrategy.isSwept)
          .getOrElse(join)
    }

  private def isTaken(join: LogicalPlan): Boolean = join.resolved && join.childrenResolved &&
    !join.children.exists(TemporalPlan.isMarked)

  /** A stream on the right needs one on the left: its later rows change what was returned. */
  private def isSupported(join: LogicalPlan): Boolean =
    join.children.head.isStreaming || !join.children.last.isStreaming

  /** Whether the tolerance is valid. Spark reports one that is not. */
  private def isValid(join: AsOfJoin): Boolean = join.toleranceAssertion.forall { assertion =>
    assertion.foldable && assertion.eval() == true
  }

  private def nearest(
      join: BinaryNode,
      joinType: JoinType,
      conditions: Seq[Expression],
      ranking: Ranking,
      count: Int): NearestMatches = NearestMatches(
    join.left,
    join.right,
    joinType,
    conditions.reduceOption(And).getOrElse(TrueLiteral),
    ranking.value,
    ranking.center,
    ranking.fromEnd,
    ties = Nil,
    count)
}
