// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, AttributeSet, NamedExpression
}
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.{Cross, Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.condition.model.{
  JoinOutput, LeftSide, RightSide, Side, SweepCondition, SweepOptions, WhyNot
}
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.execution.packing.{PackedRows, PackedRowsExec}
import org.apache.spark.sql.intervalsweep.execution.task.SweepMode
import org.apache.spark.sql.intervalsweep.execution.{
  IntervalSweepJoinExec, StreamingGroupAggregateExec, SweepInputExec
}
import org.apache.spark.sql.intervalsweep.planner.adaptive.PrunePartitions
import org.apache.spark.sql.intervalsweep.planner.nodes.{
  MatchRuns, PackedSide, PerBatchRows, RowId, WithRowId
}
import org.apache.spark.sql.types.LongType

/**
 * Plans joins with an interval condition as [[IntervalSweepJoinExec]]. The strategy runs before
 * Spark's own join selection. A join that it leaves alone, for one of the reasons in [[WhyNot]], is
 * planned by Spark.
 *
 * [[decide]] chooses for one join. It needs the settings, the join type, the condition
 * ([[ConditionAnalysis]]), the join hints and the statistics of both sides.
 */
object IntervalSweepStrategy
    extends SparkStrategy with JoinSelectionHelper with SQLConfHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case RowId.Of(columns, rows) =>
      Seq(ProjectExec(columns, planLater(RowId.repeatable(rows))))
    case Project(columns, join: Join) => planned(join, Some(columns)).toSeq
    case join: Join => planned(join, None).orElse(plannedBySpark(join)).toSeq
    case numbered @ WithRowId(_, rows) =>
      Seq(ProjectExec(
        rows.output :+ numbered.identity,
        planLater(RowId.repeatable(rows))))
    case WithRowId.Groups(aggregate, runs, join) => plannedOnce(aggregate, runs, join).toSeq
    case runs: MatchRuns => Seq(plannedRuns(runs))
    case rows: PerBatchRows => Seq(PerBatchRows.planned(rows, planLater))
    case PackedSide(side) => Seq(PackedRowsExec(planLater(side)))
    case _ => Nil
  }

  /** @param columns the projection directly above the join, if there is one */
  private def planned(join: Join, columns: Option[Seq[NamedExpression]]): Option[SparkPlan] =
    decide(join) match {
      case Right(choice) =>
        val sweep = physical(join, choice, columns)
        sweep.setLogicalLink(join)
        Some(columns.fold[SparkPlan](sweep)(ProjectExec(_, sweep)))
      case Left(reason) =>
        FallbackLog.write(join, reason)
        None
    }

  /**
   * The plan of a join that is not swept. In real-time mode this is [[RealTimeJoin]]. A join with
   * relations that consist of equalities only is planned with these expanded, so that Spark finds
   * its equi-join keys. None leaves the join to Spark unchanged.
   */
  private def plannedBySpark(join: Join): Option[SparkPlan] =
    if (decide(join) == Left(WhyNot.RealTime)) Some(RealTimeJoin(join, planLater))
    else EqualityRelations.writtenOut(join).map(planLater)

  /**
   * Plans a node that Spark does not know. If the join is not swept, the node returns a row per
   * pair.
   */
  private def plannedRuns(runs: MatchRuns): SparkPlan = {
    val swept = for {
      join <- runs.join
      choice <- decide(join, runs.groupSide).toOption
    } yield sweptRuns(runs, join, choice)
    swept.getOrElse(ProjectExec(runs.kept ++ runs.named, planLater(runs.child)))
  }

  private def sweptRuns(
      runs: MatchRuns,
      join: Join,
      choice: SweepChoice): IntervalSweepJoinExec = {
    val sweep = physical(join, choice, None)
    val joined = sweep.copy(
      sweepCondition = sweep.sweepCondition.withChecks(runs.leftChecks, runs.rightChecks),
      runs = Some(runs.named),
      groupSide = runs.groupSide,
      output = runs.output)
    joined.setLogicalLink(runs)
    joined
  }

  /**
   * Plans an aggregate with a group per left row without groups and row ids. None unless each left
   * row is swept once: then the join returns the row together with all its aggregates.
   */
  private def plannedOnce(
      aggregate: Aggregate,
      runs: MatchRuns,
      join: Join): Option[SparkPlan] = for {
    choice <- decide(join, runs.groupSide).toOption
    if join.joinType == LeftOuter && choice.sweepsOnce(LeftSide)
  } yield {
    val partialRowId = AttributeReference("partialRowId", LongType, nullable = false)()
    val needed = AttributeSet(aggregate.aggregateExpressions)
    val rows = join.left match { case WithRowId(_, rows) => rows; case other => other }
    val sweep = sweptRuns(runs, join.copy(left = rows), choice)
    val partialRows =
      sweep.copy(
        partialRowId = Some(partialRowId),
        output = sweep.output.filter(needed.contains) :+ partialRowId)
    partialRows.setLogicalLink(runs)
    StreamingGroupAggregateExec(aggregate.aggregateExpressions, partialRowId, partialRows)
  }

  /**
   * How a join is swept, or why it is not.
   *
   * @param boxes the side whose rows should be boxes if both sides can be, such as the side of the
   *   groups
   */
  def decide(join: Join, boxes: Option[Side] = None): Either[WhyNot, SweepChoice] =
    for {
      output <- possibleOutput(join)
      broadcast <- broadcastSide(join, output)
      preferred = boxes.orElse(output.tracked.headOption).orElse(broadcast.map(_.other))
      sweep <- analyze(join, preferred)
      _ <- hinted(join, sweep)
      way = mode(sweep, broadcast)
      _ <- Either.cond(!SparkShims.isRealTime(join), (), WhyNot.RealTime)
      // A separate job samples the ranges. It would read the stream's micro-batch a second time.
      _ <- Either.cond(
        way != SweepMode.ByRanges || !join.exists(_.isStreaming),
        (),
        WhyNot.StreamByRanges)
    } yield SweepChoice(sweep, way)

  /**
   * Right if rows of the join may stand for runs, else the reason. The answer needs no statistics.
   */
  def takesRuns(join: Join, boxes: Option[Side]): Either[String, Unit] = for {
    output <- possibleOutput(join).left.map(_.message)
    sweep <- analyze(join, boxes.orElse(output.tracked.headOption)).left.map(_.message)
    _ <- sweep.residual.map(e => s"${e.sql} is looked at pair by pair").toLeft(())
  } yield ()

  /** Whether the join is swept and returns pairs. Joins of a stream are excluded. */
  def makesPairs(join: Join): Boolean =
    // Spark's state of a streaming aggregate has the columns of Spark's own aggregate functions.
    !join.isStreaming && possibleOutput(join).exists(_.hasPairs) && isSwept(join)

  /** Whether a join is swept, as far as the answer needs no statistics. */
  def isSwept(join: Join): Boolean =
    possibleOutput(join).isRight && analyze(join, None).exists(hinted(join, _).isRight)

  /**
   * Whether each sweep of a join has a lead axis with two bounds. False also if the join is not
   * swept.
   */
  def isBounded(join: Join): Boolean = possibleOutput(join).isRight &&
    analyze(join, None, weakAlternatives = false).exists(_.sweeps.forall(_.isBounded))

  private def possibleOutput(join: Join): Either[WhyNot, JoinOutput] = for {
    _ <- Either.cond(conf.getConf(IntervalSweepConf.Enabled), (), WhyNot.Disabled)
    _ <- Either.cond(!join.left.isStreaming || !join.right.isStreaming, (), WhyNot.Streaming)
    output <- JoinOutput.of(join.joinType).toRight(WhyNot.JoinTypeNotSupported(join.joinType))
    _ <- join.condition.toRight(WhyNot.NoCondition)
  } yield output

  private def analyze(
      join: Join,
      boxes: Option[Side],
      weakAlternatives: Boolean = true): Either[WhyNot, SweepCondition] =
    join.condition.toRight(WhyNot.NoCondition).flatMap(condition =>
      ConditionAnalysis.of(
        condition,
        join.left.outputSet,
        join.right.outputSet,
        SweepOptions(
          preferredBoxes = boxes,
          forcedBoxes = sideOf(conf.getConf(IntervalSweepConf.Boxes)),
          // Each row of a lateral subquery gets its aggregates from one run, however long it is.
          weakRanges = conf.getConf(IntervalSweepConf.WeakRanges) || WithRowId.isIn(join.left),
          weakAlternatives = weakAlternatives)))

  private def sideOf(name: String): Option[Side] =
    Side.all.find(_.toString == name)

  private def mode(sweep: SweepCondition, broadcast: Option[Side]): SweepMode = broadcast match {
    case Some(side) => SweepMode.Broadcast(side)
    case None if sweep.leftKeys.nonEmpty => SweepMode.ByKeys
    case None => SweepMode.ByRanges
  }

  /**
   * Respects hints for Spark's join algorithms. MERGE and SHUFFLE_HASH count only if the join has
   * equi-join keys, which these algorithms need.
   */
  private def hinted(join: Join, sweep: SweepCondition): Either[WhyNot, Unit] = {
    val hint = join.hint
    if (hintToShuffleReplicateNL(hint)) Left(WhyNot.HintForbids("SHUFFLE_REPLICATE_NL"))
    else if (sweep.leftKeys.isEmpty && !EqualityRelations.areIn(join)) Right(())
    else if (hintToSortMergeJoin(hint)) Left(WhyNot.HintForbids("MERGE"))
    else if (hintToShuffleHashJoin(hint)) Left(WhyNot.HintForbids("SHUFFLE_HASH"))
    else Right(())
  }

  /**
   * The side to broadcast: a side that is broadcast already, else a hinted side, else a small one;
   * of two sides the smaller one.
   */
  private[planner] def broadcastSide(
      join: Join,
      output: JoinOutput): Either[WhyNot, Option[Side]] = {
    val sides = Side.all
    // A side whose matches are tracked is not broadcast, as no task sees all matches of its rows.
    val allowed = sides.filterNot(output.isTracked)
    def child(side: Side): LogicalPlan = if (side == LeftSide) join.left else join.right
    sides.filter(side => broadcastStage(child(side)).isDefined) match {
      case Seq(side) if broadcastStage(child(side)).contains(true) => Right(Some(side))
      case Nil =>
        val hinted = allowed.filter {
          case LeftSide => hintToBroadcastLeft(join.hint)
          case RightSide => hintToBroadcastRight(join.hint)
        }
        val small = allowed.filter(side => isSmall(child(side)) && !refused(join, side))
        val candidates = if (hinted.nonEmpty) hinted else small
        Right(candidates.minByOption(child(_).stats.sizeInBytes))
      case _ => Left(WhyNot.BroadcastStageOfOther)
    }
  }

  /** Spark's own test, with the threshold multiplied by `broadcastFactor`. */
  private def isSmall(plan: LogicalPlan): Boolean = {
    val stats = plan.stats
    val adaptive =
      if (stats.isRuntime) conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD) else None
    val threshold = adaptive.getOrElse(conf.autoBroadcastJoinThreshold)
    stats.sizeInBytes.toDouble <= conf.getConf(IntervalSweepConf.BroadcastFactor) * threshold
  }

  private def refused(join: Join, side: Side): Boolean = side match {
    case LeftSide => hintToNotBroadcastLeft(join.hint)
    case RightSide => hintToNotBroadcastRight(join.hint)
  }

  /**
   * Adaptive execution plans the join again when a broadcast has finished. True if the broadcast
   * has packed rows, as ours do; false if it has the hash table of another join. None if the plan
   * is not a broadcast.
   */
  private def broadcastStage(plan: LogicalPlan): Option[Boolean] = plan match {
    case LogicalQueryStage(_, stage: BroadcastQueryStageExec) =>
      Some(stage.outputPartitioning match {
        case p: BroadcastPartitioning => p.mode == PackedRows
        case _ => false
      })
    case _ => None
  }

  private[planner] def physical(
      join: Join,
      choice: SweepChoice,
      columns: Option[Seq[NamedExpression]]): IntervalSweepJoinExec = {
    val SweepChoice(sweep, mode) = choice
    def input(side: Side, plan: LogicalPlan, other: LogicalPlan): SparkPlan = mode match {
      case SweepMode.Broadcast(`side`) => broadcast(plan)
      case _: SweepMode.Broadcast =>
        linked(SweepInputExec(planLater(PrunePartitions.inOtherSide(plan, other))), plan)
      case _ => linked(SweepInputExec(planLater(plan)), plan)
    }
    IntervalSweepJoinExec(
      input(LeftSide, join.left, join.right),
      input(RightSide, join.right, join.left),
      join.joinType match { case Cross => Inner; case other => other },
      sweep,
      mode,
      limit = None,
      ties = Nil,
      runs = None,
      groupSide = None,
      partialRowId = None,
      columns.fold(join.output)(needed(join, _)))
  }

  private def broadcast(plan: LogicalPlan): SparkPlan =
    if (broadcastStage(plan).isDefined) planLater(plan)
    else linked(PackedRowsExec(planLater(plan)), plan)

  /**
   * Links a node below the join to the logical plan of its input. Without a link of its own the
   * node would inherit the join's link. Adaptive execution would then take the finished exchange
   * above the node for the join, and the row count of one input for that of the join, which drops
   * LIMIT and ORDER BY above it.
   */
  private def linked(node: SparkPlan, input: LogicalPlan): SparkPlan = {
    node.setLogicalLink(input)
    node
  }

  private def needed(join: Join, columns: Seq[NamedExpression]): Seq[Attribute] = {
    val references = AttributeSet(columns.flatMap(_.references))
    join.output.filter(references.contains)
  }
}

/** How a join is swept: the condition, and how rows come together. */
case class SweepChoice(condition: SweepCondition, mode: SweepMode) {

  /** Whether each row of a side is in one task only, as one box whose matches are one run. */
  def sweepsOnce(side: Side): Boolean =
    (mode == SweepMode.ByKeys || mode == SweepMode.Broadcast(side.other)) &&
      condition.residual.isEmpty && condition.sweeps.size == 1 &&
      condition.sweeps.forall(sweep => sweep.boxes == side && sweep.second.isEmpty)

  /** The text in EXPLAIN. */
  def describe: String = mode.describe(condition).mkString(", ")
}
