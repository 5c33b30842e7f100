// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.report

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{
  Command, CommandResult, Filter, Join, LocalRelation, LogicalPlan, TransformWithState
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{CommandExecutionMode, LogicalRDD, QueryExecution}
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, WhyNot}
import org.apache.spark.sql.intervalsweep.planner.joins.{
  FallbackLog, IntervalSweepStrategy, SweepChoice
}
import org.apache.spark.sql.intervalsweep.planner.nearest.NearestMatchesStrategy
import org.apache.spark.sql.intervalsweep.planner.nodes.{MatchRuns, NearestMatches}
import org.apache.spark.sql.intervalsweep.streams.histories.{HistoryProcessor, SliceHistory}
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinProcessor
import org.apache.spark.sql.intervalsweep.streams.ongoing.OngoingJoinProcessor
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor
import org.apache.spark.sql.intervalsweep.streams.windows.WindowUnionProcessor
import org.apache.spark.sql.types.{StringType, StructType}

/**
 * The report on a join of a plan, or on a window union of two streams: how it is swept, or why not.
 * The fields are the columns of `interval_join_report` ([[JoinReport.schema]]) and those of
 * Python's `JoinReport`.
 *
 * @param number the position of the join in EXPLAIN, counted from the top
 * @param how keys, sides, axes and distribution, and whether an aggregate above is computed from
 *   runs or why it needs pairs. For two streams, the text that EXPLAIN shows for the operator. None
 *   if Spark joins
 * @param reason the name of a [[WhyNot]]. Like `conjunct` and `explanation`, None if the join is
 *   swept
 * @param advice what to change; also for a swept join that searches texts by their beginnings
 * @param conjunct the part of the condition that the reason is about
 * @param estimatedPairs the pairs with equal keys, or all pairs if there are no keys. A sweep
 *   visits some of them. None unless Spark's cost-based optimizer has an estimate
 */
case class JoinReport(
    number: Int,
    joinType: String,
    condition: Option[String],
    swept: Boolean,
    how: Option[String],
    reason: Option[String],
    conjunct: Option[String],
    explanation: Option[String],
    advice: Option[String],
    estimatedPairs: Option[Long])

object JoinReport extends PredicateHelper {

  val schema: StructType = StructType.fromDDL(
    "number INT NOT NULL, join_type STRING NOT NULL, condition STRING, swept BOOLEAN NOT NULL, " +
      "how STRING, reason STRING, conjunct STRING, explanation STRING, advice STRING, " +
      "estimated_pairs BIGINT")

  /** The report on a query or a statement: one row per join in its optimized plan. */
  def relation(query: QueryExecution): LocalRelation = {
    val reports = query.sparkSession.withActive(planned(query).flatMap(of))
    val numbered = reports.zipWithIndex.map { case (report, i) => report.copy(number = i + 1) }
    LocalRelation.fromProduct(DataTypeUtils.toAttributes(schema), numbered)
  }

  /** The optimized plan of a query, or those of the queries within a command. */
  private def planned(query: QueryExecution): Seq[LogicalPlan] = {
    val command = query.analyzed.collectFirst {
      case executed: CommandResult => executed.commandLogicalPlan
      case command: Command => command
    }
    command.fold(Seq(optimized(query))) { command =>
      val state = query.sparkSession.sessionState
      queriesOf(command).flatMap(q => planned(state.executePlan(q, CommandExecutionMode.SKIP)))
    }
  }

  /** The plans in a command, without the names of tables. Not all are children of the command. */
  private def queriesOf(command: LogicalPlan): Seq[LogicalPlan] =
    (command.children ++ command.innerChildren ++ command.productIterator).collect {
      case plan: LogicalPlan if plan.children.nonEmpty || plan.innerChildren.nonEmpty => plan
    }.distinct

  /** Spark optimizes a streaming plan only when the query starts, so this calls the optimizer. */
  private def optimized(query: QueryExecution): LogicalPlan =
    if (query.analyzed.isStreaming) {
      query.sparkSession.sessionState.optimizer.execute(query.analyzed.clone())
    } else query.optimizedPlan

  /** The reports on the joins of a plan, without their numbers. */
  private def of(plan: LogicalPlan): Seq[JoinReport] = {
    val filters = plan.collectWithSubqueries { case Filter(condition, join: Join) =>
      join -> condition
    }
    val runs = plan.collectWithSubqueries { case runs: MatchRuns => runs }
    val joins = plan.collectWithSubqueries {
      case join: Join => join
      case nearest: NearestMatches => nearest
      case node: TransformWithState if joinsStreams(processor(node)) => node
      case slices: SliceHistory => slices
    }
    // Partition pruning repeats one side of a join, with all joins in it.
    joins.distinct.flatMap {
      case join: Join =>
        val filter = filters.collectFirst { case (j, condition) if j eq join => condition }
        Seq(report(join, filter, runs.find(_.join.contains(join))))
      case nearest: NearestMatches => Seq(report(nearest))
      case slices: SliceHistory => ofHistory(slices)
      case node => Seq(ofStreams(processor(node.asInstanceOf[TransformWithState])))
    }
  }

  private def joinsStreams(operator: Any): Boolean = operator match {
    case _: HistoryProcessor => false
    case other => other.isInstanceOf[PartitionProcessor]
  }

  /** The reports on the joins of a history of streams, which are planned in each micro-batch. */
  private def ofHistory(slices: SliceHistory): Seq[JoinReport] = {
    val session = SparkSession.active
    val noRows = session.sparkContext.emptyRDD[InternalRow]
    val plan =
      slices.query.history(0, 1, coalesce = true, rows => LogicalRDD(rows.output, noRows)(session))
    of(session.sessionState.executePlan(plan).optimizedPlan).map(report =>
      report.copy(how = report.how.map(how => s"$how, in each micro-batch")))
  }

  private def processor(node: TransformWithState): Any = node.statefulProcessor

  /**
   * The report on a stateful operator, which the analyzer has put in the place of a join of
   * streams.
   */
  private def ofStreams(operator: Any): JoinReport = {
    val joinType = operator match {
      case join: StreamJoinProcessor => JoinOutput.typeOf(join.spec.output)
      case _: OngoingJoinProcessor => Inner
      case windows: WindowUnionProcessor if windows.dropsUnmatched => Inner
      case _ => LeftOuter
    }
    JoinReport(
      number = 0,
      WhyNot.nameOf(joinType),
      condition = None,
      swept = true,
      how = Some(operator.toString),
      reason = None,
      conjunct = None,
      explanation = None,
      advice = None,
      estimatedPairs = None)
  }

  /** @param runs the node above the join that reads runs in place of pairs, if there is one */
  private def report(
      join: Join,
      filter: Option[Expression],
      runs: Option[MatchRuns]): JoinReport = {
    val choice = IntervalSweepStrategy.decide(join, runs.flatMap(_.groupSide)).left.map {
      case WhyNot.NoCondition => filter.flatMap(random(join, _)).getOrElse(WhyNot.NoCondition)
      case reason => reason
    }
    val reason = choice.left.toOption
    JoinReport(
      number = 0,
      WhyNot.nameOf(join.joinType),
      join.condition.map(_.sql),
      choice.isRight,
      choice.toOption.map(c => (c.describe +: ofAggregate(join, runs)).mkString(", ")),
      reason.map(_.name),
      reason.flatMap(_.conjunct).map(_.sql),
      reason.map(_.explanation),
      reason.map(_.advice).orElse(choice.toOption.flatMap(adviceOnTexts)),
      estimatedPairs(join))
  }

  private def report(nearest: NearestMatches): JoinReport = {
    val choice = NearestMatchesStrategy.decide(nearest)
    val reason = choice.left.toOption
    JoinReport(
      number = 0,
      WhyNot.nameOf(nearest.joinType),
      Some(nearest.condition.sql),
      choice.isRight,
      choice.toOption.map(_.describe),
      reason.map(_.name),
      reason.flatMap(_.conjunct).map(_.sql),
      reason.map(_.explanation),
      reason.map(_.advice),
      estimatedPairs(nearest.join))
  }

  /** The advice on endpoints that are texts: the sweep compares only their beginnings. */
  private def adviceOnTexts(choice: SweepChoice): Option[String] = {
    val endpoints = choice.condition.leftEndpoints ++ choice.condition.rightEndpoints
    val text = endpoints.flatMap(_.collectFirst {
      case EncodedEndpoint(e) if e.dataType.isInstanceOf[StringType] => e.sql
    }).headOption
    text.map(e =>
      s"$e is a text, of which the sweep compares the first 8 bytes, and the rest pair by pair; " +
        "if it has a date, a time or a number, cast it to DATE, TIMESTAMP or a number below the join")
  }

  private def ofAggregate(join: Join, runs: Option[MatchRuns]): Seq[String] =
    runs.map(_ => "runs for the aggregate above").toSeq ++
      FallbackLog.pairsBecause(join).map(why => s"pairs for the aggregate above: $why")

  /**
   * The reason for a join whose condition stays in a filter above it: Spark does not move
   * predicates that are not deterministic into a join.
   */
  private def random(join: Join, filter: Expression): Option[WhyNot] =
    splitConjunctivePredicates(filter)
      .find(c => !c.deterministic && !canEvaluate(c, join.left) && !canEvaluate(c, join.right))
      .map(WhyNot.NonDeterministic(_))

  private def estimatedPairs(join: Join): Option[Long] =
    join.copy(joinType = Inner).stats.rowCount.map(_.min(Long.MaxValue).toLong)
}
