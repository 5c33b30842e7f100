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
 * Plans joins with an interval condition as [[IntervalSweepJoinExec]]. It runs before Spark's own
 * join selection; a join that it leaves alone, for one of the reasons in [[WhyNot]], is planned by
 * Spark.
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

  /** @param columns what is projected from the join's rows right away */
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

  /** A join that is not swept, but whose relations are Spark's equi-join when they are written out. */
  private def plannedBySpark(join: Join): Option[SparkPlan] =
    if (decide(join) == Left(WhyNot.RealTime)) Some(RealTimeJoin(join, planLater))
    else EqualityRelations.writtenOut(join).map(planLater)

  /** Spark knows no such node: if the join is not swept, each pair has a row. */
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

  /** Where each row of the left side is swept once, it has all of its aggregates, and no number. */
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

  /** What is done with a join. */
  def decide(join: Join, boxes: Option[Side] = None): Either[WhyNot, SweepChoice] =
    for {
      output <- possibleOutput(join)
      broadcast <- broadcastSide(join, output)
      preferred = boxes.orElse(output.tracked.headOption).orElse(broadcast.map(_.other))
      sweep <- analyze(join, preferred)
      _ <- hinted(join, sweep)
      way = mode(sweep, broadcast)
      // Ranges are found by a job of its own, which would read the stream's batch once more.
      _ <- Either.cond(!SparkShims.isRealTime(join), (), WhyNot.RealTime)
      _ <- Either.cond(
        way != SweepMode.ByRanges || !join.exists(_.isStreaming),
        (),
        WhyNot.StreamByRanges)
    } yield SweepChoice(sweep, way)

  /** What may be known before statistics are: whether the rows of a join may be runs. */
  def takesRuns(join: Join, boxes: Option[Side]): Either[String, Unit] = for {
    output <- possibleOutput(join).left.map(_.message)
    sweep <- analyze(join, boxes.orElse(output.tracked.headOption)).left.map(_.message)
    _ <- sweep.residual.map(e => s"${e.sql} is looked at pair by pair").toLeft(())
  } yield ()

  /** Whether it is a join that is swept and makes pairs. */
  def makesPairs(join: Join): Boolean =
    // What Spark keeps of a stream between its batches has the columns of its own aggregates.
    !join.isStreaming && possibleOutput(join).exists(_.hasPairs) && isSwept(join)

  /** Whether a join is swept, as far as that is known before statistics are. */
  def isSwept(join: Join): Boolean =
    possibleOutput(join).isRight && analyze(join, None).exists(hinted(join, _).isRight)

  private def possibleOutput(join: Join): Either[WhyNot, JoinOutput] = for {
    _ <- Either.cond(conf.getConf(IntervalSweepConf.Enabled), (), WhyNot.Disabled)
    _ <- Either.cond(!join.left.isStreaming || !join.right.isStreaming, (), WhyNot.Streaming)
    output <- JoinOutput.of(join.joinType).toRight(WhyNot.JoinTypeNotSupported(join.joinType))
    _ <- join.condition.toRight(WhyNot.NoCondition)
  } yield output

  private def analyze(join: Join, boxes: Option[Side]): Either[WhyNot, SweepCondition] =
    join.condition.toRight(WhyNot.NoCondition).flatMap(condition =>
      ConditionAnalysis.of(
        condition,
        join.left.outputSet,
        join.right.outputSet,
        SweepOptions(
          preferredBoxes = boxes,
          forcedBoxes = sideOf(conf.getConf(IntervalSweepConf.Boxes)),
          weakRanges = conf.getConf(IntervalSweepConf.WeakRanges))))

  private def sideOf(name: String): Option[Side] =
    Seq[Side](LeftSide, RightSide).find(_.toString == name)

  private def mode(sweep: SweepCondition, broadcast: Option[Side]): SweepMode = broadcast match {
    case Some(side) => SweepMode.Broadcast(side)
    case None if sweep.leftKeys.nonEmpty => SweepMode.ByKeys
    case None => SweepMode.ByRanges
  }

  /** A hint for another of Spark's join algorithms is respected. */
  private def hinted(join: Join, sweep: SweepCondition): Either[WhyNot, Unit] = {
    val hint = join.hint
    if (hintToShuffleReplicateNL(hint)) Left(WhyNot.HintForbids("SHUFFLE_REPLICATE_NL"))
    else if (sweep.leftKeys.isEmpty && !EqualityRelations.areIn(join)) Right(())
    else if (hintToSortMergeJoin(hint)) Left(WhyNot.HintForbids("MERGE"))
    else if (hintToShuffleHashJoin(hint)) Left(WhyNot.HintForbids("SHUFFLE_HASH"))
    else Right(())
  }

  /** The side to broadcast: by a hint, or because it is small. */
  private def broadcastSide(join: Join, output: JoinOutput): Either[WhyNot, Option[Side]] = {
    val sides = Seq[Side](LeftSide, RightSide)
    // Whether a row of a broadcast side has a match, no task knows alone.
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

  /** As Spark has it, but for the factor. */
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
   * Adaptive execution plans again once a broadcast is there: whether it holds rows, as ours do,
   * and not another join's hash table. None if the plan is no broadcast.
   */
  private def broadcastStage(plan: LogicalPlan): Option[Boolean] = plan match {
    case LogicalQueryStage(_, stage: BroadcastQueryStageExec) =>
      Some(stage.outputPartitioning match {
        case p: BroadcastPartitioning => p.mode == PackedRows
        case _ => false
      })
    case _ => None
  }

  private def physical(
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
      runs = None,
      groupSide = None,
      partialRowId = None,
      columns.fold(join.output)(needed(join, _)))
  }

  private def broadcast(plan: LogicalPlan): SparkPlan =
    if (broadcastStage(plan).isDefined) planLater(plan)
    else linked(PackedRowsExec(planLater(plan)), plan)

  /**
   * A node below the join belongs to its input. Without a link of its own it would inherit the
   * join's: adaptive execution would then put the finished exchange above it in the join's place,
   * and judge the join by the row count of one input, which drops LIMIT and ORDER BY above it.
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

/** A join that is swept: how. */
case class SweepChoice(condition: SweepCondition, mode: SweepMode) {

  /** Whether each row of a side is in one task, and there it is one box, whose matches are one run. */
  def sweepsOnce(side: Side): Boolean =
    (mode == SweepMode.ByKeys || mode == SweepMode.Broadcast(side.other)) &&
      condition.residual.isEmpty && condition.sweeps.size == 1 &&
      condition.sweeps.forall(sweep => sweep.boxes == side && sweep.second.isEmpty)

  /** As EXPLAIN shows it. */
  def describe: String = mode.describe(condition).mkString(", ")
}
