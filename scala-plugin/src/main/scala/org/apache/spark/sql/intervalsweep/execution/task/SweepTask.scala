// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.{KeptMatches, LeftSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, RowBlock, UnpairedRows}
import org.apache.spark.sql.intervalsweep.execution.chunks.JoinChunks
import org.apache.spark.sql.intervalsweep.execution.metrics.{Counter, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.runs.{LocalSweep, RunBatch}
import org.apache.spark.sql.intervalsweep.execution.worker.SweepWorker

/**
 * The join of one task. It goes through the chunks and has each swept ([[ChunkSweeper]]). It hands
 * out the matches as runs of pairs ([[PairCursor]]), and then the unpaired rows of the chunk.
 *
 * The task is a state machine. A step of a stage starts a run, or leads to another stage:
 * {{{
 *            a chunk with rows on both sides            a batch of runs
 *   Chunk ------------------------------------> Sweep ------------------> Batch    a run each step
 *     |  ^                                       |  ^                       |
 *     |  |                                       |  '-----------------------'
 *     |  | no row left                           | no batch left               no run left
 *     |  |            no point left              v
 *     |  '-- Unpaired <---------------------- Points      an aggregated point each step
 *     |        ^   unpaired rows each step
 *     '--------'
 *     any other chunk
 * }}}
 *
 * @param startWorker starts the worker; called once, and only if a chunk is not small
 * @param local sweeps the small chunks
 */
final class SweepTask(
    chunks: JoinChunks,
    buildSide: Side,
    plan: TaskPlan,
    startWorker: () => SweepWorker,
    local: LocalSweep,
    metrics: Map[String, SQLMetric],
    context: TaskContext)
    extends PairCursor(context) {
  import SweepTask._

  private val counters = SweepMetrics.counted.map(name => name -> new Counter(metrics(name))).toMap
  private val emittedRows = counters(SweepMetrics.OutputRows)
  private val output = plan.output
  private val marks = new MatchedBitmap(output, () => check())
  private val aggregation: Option[RunAggregation] =
    plan.runs.map(new RunAggregation(plan, _, block))
  private val sweeper =
    new ChunkSweeper(chunks, buildSide, plan, startWorker, local, aggregation, counters)
  private var stage: Stage = Stage.Chunk

  /** The current batch of runs: those from `next` until `size` are still to come. */
  private var batch: RunBatch = _
  private var next = 0
  private var size = 0
  private var isBoxLeft = false

  /** The matches of the current box that are still wanted, if a limit keeps some of them. */
  private var wanted = 0
  private val isBackward = plan.limit.exists(_.kept == KeptMatches.Last)
  private var unpaired: List[UnpairedRows] = Nil

  override protected def step(): Boolean = stage match {
    case Stage.Batch =>
      if (next < size) startRun() else stage = Stage.Sweep
      true
    case Stage.Sweep => fetch(); true
    case Stage.Points =>
      if (aggregation.exists(_.nextPoint())) startPoint() else stage = Stage.Unpaired
      true
    case Stage.Unpaired =>
      if (unpaired.nonEmpty) startUnpairedRun() else stage = Stage.Chunk
      true
    case Stage.Chunk => nextChunk()
  }

  /**
   * The number of a probe-side row that has several partial rows; -1 if it has a single output row.
   */
  def partialRowIdOf(row: Int): Long = if (isWhole) -1L else chunks.probeNumber(row)

  /** The values of the pairs of a run, as columns with one row. */
  def runColumns: Array[BlockColumn] = aggregation.get.values

  /** Counts output rows in a local number, which is cheaper than the metric. */
  def emitted(n: Int): Unit = emittedRows.value += n

  /**
   * Marks the rows of a pair that has passed the residual condition. Raises the error of a failed
   * check.
   */
  def setMatched(l: Int, r: Int): Unit = marks.pair(left, right, l, r)

  /** True if a pair cannot change the result. For joins that emit no pairs. */
  def isDecided(l: Int, r: Int): Boolean = marks.isDecided(left, right, l, r)

  /**
   * Counts a pair that has passed the residual condition; true if the limit keeps no further one of
   * its run. For joins with a limit.
   */
  def isLastWanted(): Boolean = {
    wanted -= 1
    wanted == 0
  }

  private def startRun(): Unit = {
    isPair = true
    if (isBoxLeft) {
      leftRow = batch.box(next)
      rightRow = batch.first(next)
    } else {
      leftRow = batch.first(next)
      rightRow = batch.box(next)
    }
    pairs = batch.count(next)
    isRun = aggregation.isDefined && aggregation.get.startRun(next)
    if (isRun) pairs = 1
    isWhole = chunks.meetsAll && (pairs == 1 || plan.limit.isDefined)
    if (plan.isSearched) startSearch()
    next += 1
  }

  /** Goes through the points of the run, the preferred one first, until enough of them match. */
  private def startSearch(): Unit = {
    wanted = plan.limit.get.count
    if (isBackward) {
      rightRow += pairs - 1
      rightStep = -1
    }
  }

  /** Starts a run of one pair: a point, and one of the matches that the pair stands for. */
  private def startPoint(): Unit = {
    val points = aggregation.get
    val isPointLeft = points.pointSide == LeftSide
    isPair = true
    isRun = true
    leftRow = if (isPointLeft) points.point else points.partner
    rightRow = if (isPointLeft) points.partner else points.point
    pairs = 1
  }

  private def startUnpairedRun(): Unit = {
    val rows = unpaired.head
    if (!rows.advance()) unpaired = unpaired.tail
    else {
      val isLeft = rows.side == LeftSide
      if (isLeft) show(rows.block, right) else show(left, rows.block)
      isPair = false
      isRun = false
      isWhole = true
      hasMatch = rows.outcome
      leftRow = if (isLeft) rows.first else -1
      rightRow = if (isLeft) -1 else rows.first
      leftStep = if (isLeft) 1 else 0
      rightStep = 1 - leftStep
      pairs = rows.count
    }
  }

  /** Reads the next batch of runs. */
  private def fetch(): Unit = {
    check()
    publish()
    if (sweeper.nextRuns()) {
      take(sweeper.runs)
      stage = Stage.Batch
    } else {
      aggregation.foreach(_.endSweeps())
      unpaired = settled
      stage = Stage.Points
    }
  }

  private def take(runs: RunBatch): Unit = {
    val boxes = plan.sweeps(runs.sweep).boxes
    batch = runs
    sweepNumber = runs.sweep
    isBoxLeft = boxes == LeftSide
    leftStep = if (isBoxLeft) 0 else 1
    rightStep = 1 - leftStep
    if (!plan.hasResidual) marks.runs(runs, boxes, block(boxes), block(boxes.other))
    next = 0
    size = aggregation.fold(if (output.hasPairs || plan.hasResidual) runs.size else 0)(
      _.take(runs, boxes))
  }

  private def block(side: Side): RowBlock = if (side == LeftSide) left else right

  /** Moves to the next chunk; false after the last one. */
  private def nextChunk(): Boolean = chunks.next() && {
    check()
    if (chunks.buildChanged) sweeper.buildChanged()
    if (buildSide == LeftSide) show(chunks.build, chunks.probe, hasNewRows = true)
    else show(chunks.probe, chunks.build, hasNewRows = true)
    aggregation.foreach(_.startChunk())
    if (left.numRows > 0 && right.numRows > 0) {
      sweeper.start(left, right)
      stage = Stage.Sweep
    } else {
      unpaired = settled
      stage = Stage.Unpaired
    }
    true
  }

  /** The unpaired rows that are in no later chunk, so that all their matches are known. */
  private def settled: List[UnpairedRows] = for {
    side <- output.tracked.toList
    own = if (side != buildSide) Some(chunks.probe -> chunks.settledProbe)
    else Option.when(chunks.buildEnds)(chunks.build -> chunks.build.numRows)
    (block, rows) <- own ++ chunks.leftovers.of(side).map(block => block -> block.numRows)
    outcome <- output.unpaired(side)
  } yield new UnpairedRows(side, block, rows, outcome)

  /** Updates the metrics. Called from time to time, and when the task ends. */
  def publish(): Unit = {
    sweeper.publish()
    counters.values.foreach(_.publish())
  }
}

private object SweepTask {

  /** A stage decides what the next step does. */
  sealed trait Stage

  object Stage {

    /** Moves to the next chunk. */
    case object Chunk extends Stage

    /** Reads a batch of runs. */
    case object Sweep extends Stage

    /** Starts a run of the batch. */
    case object Batch extends Stage

    /** Starts an aggregated point. */
    case object Points extends Stage

    /** Starts a run of unpaired rows. */
    case object Unpaired extends Stage
  }
}
