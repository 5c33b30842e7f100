// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.aggregates

import org.apache.spark.sql.catalyst.expressions.{
  AliasHelper, AttributeSet, Expression, NamedExpression
}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete}
import org.apache.spark.sql.catalyst.optimizer.DecimalAggregates
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.planner.joins.{FallbackLog, IntervalSweepStrategy}
import org.apache.spark.sql.intervalsweep.planner.nodes.{MatchRuns, WithRowId}

/**
 * An optimizer rule: aggregates over a swept join are computed from its runs, without the pairs.
 *
 * {{{
 *   Aggregate [r.id], [sum(s.p)]            Aggregate [r.id], [sum(v)]
 *     Join r, s                       ->      MatchRuns [r.id, sum(s.p) of a run AS v]
 *                                               Join r, s
 * }}}
 *
 * Grouping, partial aggregation, overflow and NULL handling remain Spark's. The grouping columns
 * must be equal for all pairs of a run, so they must come from one side.
 */
object AggregateRuns extends Rule[LogicalPlan] with AliasHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.AggregateRuns)) plan
    else plan.transformUp { case aggregate: Aggregate => rewritten(aggregate).getOrElse(aggregate) }

  private def rewritten(aggregate: Aggregate): Option[LogicalPlan] = for {
    (found, join) <- overJoin(aggregate)
    if IntervalSweepStrategy.makesPairs(join)
    result <- apply(found, join) match {
      case Right(plan) => Some(plan)
      case Left(reason) =>
        FallbackLog.writePairs(join, reason)
        None
    }
  } yield result

  /**
   * The aggregate and the join below it. Projections between them are merged into the aggregate.
   */
  private def overJoin(aggregate: Aggregate): Option[(Aggregate, Join)] = aggregate.child match {
    case join: Join => Some((aggregate, join))
    case project @ Project(columns, child) if columns.forall(_.deterministic) =>
      val aliases = getAliasMap(project)
      overJoin(aggregate.copy(
        groupingExpressions = aggregate.groupingExpressions.map(replaceAlias(_, aliases)),
        aggregateExpressions =
          aggregate.aggregateExpressions.map(replaceAliasButKeepName(_, aliases)),
        child = child))
    case _ => None
  }

  private def apply(aggregate: Aggregate, join: Join): Either[String, LogicalPlan] = for {
    groupSide <- groupedSide(aggregate, join)
    _ <- IntervalSweepStrategy.takesRuns(join, groupSide)
    (groups, rows) = WithRowId.read(aggregate, join)
    runs = new RunValues(rows)
    // Apply Spark's rule early: it turns sums of short decimals into sums of integers.
    result <- rewrite(decimalsAsIntegers(groups), runs)
  } yield {
    val used = AttributeSet(result.groupingExpressions ++ result.aggregateExpressions)
    result.copy(child = MatchRuns(
      rows.output.filter(used.contains),
      runs.values.map(_.child),
      runs.values.map(_.toAttribute),
      groupSide,
      runs.checks(LeftSide),
      runs.checks(RightSide),
      runs.joinWithColumns))
  }

  private def decimalsAsIntegers(aggregate: Aggregate): Aggregate =
    DecimalAggregates(aggregate) match {
      case rewritten: Aggregate => rewritten
      case _ => aggregate
    }

  /** The side of the grouping columns; None if there is a single group. */
  private def groupedSide(aggregate: Aggregate, join: Join): Either[String, Option[Side]] = {
    val columns = AttributeSet(aggregate.groupingExpressions)
    if (aggregate.groupingExpressions.exists(!_.deterministic)) Left("a group is not deterministic")
    else if (aggregate.expressions.exists(_.containsPattern(PYTHON_UDF)))
      Left("a Python function is called pair by pair")
    else if (columns.isEmpty) Right(None)
    else if (columns.subsetOf(join.left.outputSet)) Right(Some(LeftSide))
    else if (columns.subsetOf(join.right.outputSet)) Right(Some(RightSide))
    else Left("the groups are by columns of both sides")
  }

  private def rewrite(aggregate: Aggregate, runs: RunValues): Either[String, Aggregate] = {
    val functions = aggregate.aggregateExpressions.flatMap(_.collect {
      case function: AggregateExpression => function
    })
    val overRuns = functions.map(f => f.resultId -> overRun(f, runs))
    overRuns.zip(functions).collectFirst { case ((_, None), function) => function } match {
      case Some(function) => Left(s"${function.sql} needs each pair")
      case None =>
        val byId = overRuns.collect { case (id, Some(e)) => id -> e }.toMap
        Right(aggregate.copy(aggregateExpressions = aggregate.aggregateExpressions.map(
          _.transformUp { case f: AggregateExpression => byId(f.resultId) }
            .asInstanceOf[NamedExpression])))
    }
  }

  private def overRun(function: AggregateExpression, runs: RunValues): Option[Expression] =
    if (function.isDistinct || function.filter.isDefined || function.mode != Complete) None
    else RunAggregate(function.aggregateFunction, runs)
}
