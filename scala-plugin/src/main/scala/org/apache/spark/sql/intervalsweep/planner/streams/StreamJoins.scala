// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.{Cross, Inner}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, SweepCondition, SweepOptions}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{Conjuncts, InlineReplaceable}
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.streams.eventtime.{ClockMetadata, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinPlan
import org.apache.spark.sql.intervalsweep.streams.ongoing.OngoingJoinPlan

/**
 * Replaces joins of two streams, by a relation or by inequalities without a key, by a stateful
 * operator of our own. This is a rule of the analyzer: Spark refuses such joins when a query
 * starts, before it optimizes anything. Joins with keys and plain inequalities stay Spark's, so
 * that their existing checkpoints remain valid; the joins of Python's `inequality_join` are
 * replaced nevertheless.
 */
object StreamJoins extends Rule[LogicalPlan] with PredicateHelper with SQLConfHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.isStreaming || !conf.getConf(IntervalSweepConf.Enabled)) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan match {
        // DataFrame.join post-processes the Join that it created, so a root Join is left alone. It
        // is replaced when it appears below another node, at the latest when a query starts.
        case join: Join => join.mapChildren(replaced)
        case _ => replaced(plan)
      }
    }

  private def replaced(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case join: Join if isOfStreams(join) && join.condition.isDefined =>
      taken(join, splitConjunctivePredicates(join.condition.get)).getOrElse(join)
    // Predicates are not pushed down yet, so a filter may belong to the join condition.
    case filter @ Filter(condition, join: Join)
        if filter.resolved && isOfStreams(join) && isInner(join) && condition.deterministic =>
      val conjuncts = (join.condition.toSeq :+ condition).flatMap(splitConjunctivePredicates)
      taken(join, conjuncts).getOrElse(filter)
  }

  private def isOfStreams(join: Join): Boolean =
    join.resolved && join.left.isStreaming && join.right.isStreaming

  private def isInner(join: Join): Boolean = join.joinType == Inner || join.joinType == Cross

  private def taken(written: Join, conjuncts: Seq[Expression]): Option[LogicalPlan] = {
    val (join, across) =
      if (isInner(written)) filtered(written, conjuncts) else (written, conjuncts)
    for {
      output <- JoinOutput.of(join.joinType)
      condition <- across.reduceOption(And).map(InlineReplaceable(_))
      sweep <- analyzed(join, condition) if isOurs(sweep, condition)
    } yield {
      if (!OngoingJoinPlan.isOpen(join)) new StreamJoinPlan(join, condition, output).plan
      else if (isInner(join)) new OngoingJoinPlan(join, condition, sweep).plan
      else StreamErrors.cannotJoin(
        s"Intervals that are still open, by ${join.joinType.sql},",
        "make it an inner join, or join rows that have ended")
    }
  }

  /**
   * Moves conjuncts that read only one side into a filter of that side, which may limit the length
   * of intervals.
   */
  private def filtered(join: Join, conjuncts: Seq[Expression]): (Join, Seq[Expression]) = {
    def isOf(side: LogicalPlan)(e: Expression): Boolean =
      e.deterministic && e.references.nonEmpty && e.references.subsetOf(side.outputSet)
    def filter(side: LogicalPlan, all: Seq[Expression]): LogicalPlan =
      all.reduceOption(And).fold(side)(Filter(_, side))
    val (ofLeft, others) = conjuncts.partition(isOf(join.left))
    val (ofRight, across) = others.partition(isOf(join.right))
    (join.copy(left = filter(join.left, ofLeft), right = filter(join.right, ofRight)), across)
  }

  private def analyzed(join: Join, condition: Expression): Option[SweepCondition] =
    ConditionAnalysis.of(
      condition,
      join.left.outputSet,
      join.right.outputSet,
      SweepOptions(weakRanges = true, functionsAsAxes = true)).toOption

  private def isOurs(sweep: SweepCondition, condition: Expression): Boolean =
    sweep.leftKeys.isEmpty || Conjuncts.of(condition).exists(_.relation.isDefined) ||
      ClockMetadata.areMarked(condition)
}
