// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{
  JoinOutput, KeptMatches, LeftSide, MatchLimit, RightSide, SweepCondition, WhyNot
}
import org.apache.spark.sql.intervalsweep.execution.LimitMatchesExec
import org.apache.spark.sql.intervalsweep.execution.task.SweepMode
import org.apache.spark.sql.intervalsweep.planner.joins.{IntervalSweepStrategy, SweepChoice}
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches
import org.apache.spark.sql.types.LongType

/**
 * Plans [[NearestMatches]]: as an IntervalSweepJoin with a limit, which makes only the pairs that
 * are kept, or else as [[RankedMatches]].
 */
object NearestMatchesStrategy extends SparkStrategy with SQLConfHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Project(columns, node: NearestMatches) =>
      val needed = AttributeSet(columns.flatMap(_.references))
      Seq(ProjectExec(columns, planned(node, node.output.filter(needed.contains))))
    case node: NearestMatches => Seq(planned(node, node.output))
    case _ => Nil
  }

  /** Whether the matches can be found by one sweep. The answer needs no statistics. */
  def isSwept(node: NearestMatches): Boolean = NearestCondition.of(node).isRight

  /** Whether the condition bounds the value, too, so that a row with NULL in it never matches. */
  def isBounded(node: NearestMatches): Boolean =
    NearestCondition.of(node).exists(_._1.sweeps.forall(_.lead.bounds.nonEmpty))

  /** The same, and no plan ranks all pairs. */
  def isNeverRanked(node: NearestMatches): Boolean = isBounded(node) &&
    NearestCondition.of(node).exists(c => c._1.leftKeys.nonEmpty || c._1.residual.isEmpty)

  /** How the matches are found, or why all of them are made. */
  def decide(node: NearestMatches): Either[WhyNot, NearestChoice] = for {
    _ <- Either.cond(conf.getConf(IntervalSweepConf.Enabled), (), WhyNot.Disabled)
    found <- NearestCondition.of(node)
    (condition, limit) = found
    mode <- modeOf(node, condition)
    _ <- condition.residual.filter(_ => mode == SweepMode.ByRanges)
      .map(WhyNot.FurtherCondition(_)).toLeft(())
    // The sample of the ranges is a job of its own, which would read the micro-batch a second time.
    _ <- Either.cond(
      mode != SweepMode.ByRanges || !node.exists(_.isStreaming),
      (),
      WhyNot.StreamByRanges)
  } yield NearestChoice(condition, limit, mode)

  /** @param needed the columns that the plan above reads */
  private def planned(node: NearestMatches, needed: Seq[Attribute]): SparkPlan =
    decide(node).fold(
      _ => planLater(RankedMatches(node, TieRule.of(node, needed))),
      limited(node, _, needed))

  private def modeOf(node: NearestMatches, condition: SweepCondition): Either[WhyNot, SweepMode] = {
    // All matches of a left row must be in one task, so the left side is not broadcast.
    val asOuter = node.join.copy(joinType = LeftOuter)
    IntervalSweepStrategy.broadcastSide(asOuter, JoinOutput.of(LeftOuter).get).flatMap {
      case Some(RightSide) => Right(SweepMode.Broadcast(RightSide))
      case Some(LeftSide) => Left(WhyNot.BroadcastStageOfOther)
      case None if condition.leftKeys.nonEmpty => Right(SweepMode.ByKeys)
      case None => Right(SweepMode.ByRanges)
    }
  }

  private def limited(
      node: NearestMatches,
      choice: NearestChoice,
      needed: Seq[Attribute]): SparkPlan = {
    val NearestChoice(condition, limit, mode) = choice
    val byValue =
      if (NearestCondition.isOnCast(condition, node)) RankedMatches.nearestFirst(node) else Nil
    val ties = byValue ++ TieRule.of(node, needed)
    val join = IntervalSweepStrategy.physical(node.join, SweepChoice(condition, mode), Some(needed))
      .copy(
        limit = Some(limit),
        ties = if (limit.kept == KeptMatches.First) ties else TieRule.reversed(ties))
    if (mode == SweepMode.Broadcast(RightSide)) linked(join, node)
    else {
      val partialRowId = AttributeReference("partialRowId", LongType, nullable = false)()
      val order = RankedMatches.nearestFirst(node) ++ ties
      val read = AttributeSet(order) ++ AttributeSet(needed)
      val output = node.output.filter(read.contains) :+ partialRowId
      val partial = join.copy(partialRowId = Some(partialRowId), output = output)
      LimitMatchesExec(limit.count, order, partialRowId, linked(partial, node))
    }
  }

  private def linked(plan: SparkPlan, node: NearestMatches): SparkPlan = {
    plan.setLogicalLink(node)
    plan
  }
}

/** How the matches of a [[NearestMatches]] are found. */
case class NearestChoice(condition: SweepCondition, limit: MatchLimit, mode: SweepMode) {

  /** The text in EXPLAIN. */
  def describe: String = (mode.describe(condition) :+ limit.toString).mkString(", ")
}
