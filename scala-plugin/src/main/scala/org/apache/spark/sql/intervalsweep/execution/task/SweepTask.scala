// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, RowBlock, UnpairedRows}
import org.apache.spark.sql.intervalsweep.execution.chunks.JoinChunks
import org.apache.spark.sql.intervalsweep.execution.metrics.{Counter, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.runs.{LocalSweep, RunBatch}
import org.apache.spark.sql.intervalsweep.execution.worker.SweepWorker

/**
 * The join of one task: goes through the chunks, has each swept ([[ChunkSweeper]]), and hands out
 * the matches as runs of pairs, and then the unpaired rows as runs with no partner, whose
 * position is -1. Generated code and the interpreted iterator both loop like this:
 *
 * {{{
 *   while (task.hasRun()) {
 *     if (task.takeChunkChange()) ...           // the columns are others than before
 *     l = task.leftRow; r = task.rightRow        // a long run comes in parts
 *     for (n = task.takePairs(); n > 0; n -= 1) {
 *       ... emit (l, r) ...                      // or suspend(l, r, n) and go on later
 *       l += task.leftStep; r += task.rightStep
 *     }
 *   }
 * }}}
 *
 * @param startWorker starts the worker; called once, and only if a chunk is not small
 * @param local sweeps the small chunks
 * @param context tells whether the task was killed: no iterator of Spark's is asked while runs are
 *   expanded, and if the caller rejects all pairs, nothing is emitted, either
 */
final class SweepTask(
    chunks: JoinChunks,
    residentSide: Side,
    plan: TaskPlan,
    startWorker: () => SweepWorker,
    local: LocalSweep,
    metrics: Map[String, SQLMetric],
    context: TaskContext) {
  private val counters = SweepMetrics.counted.map(name => name -> new Counter(metrics(name))).toMap
  private val emittedRows = counters(SweepMetrics.OutputRows)
  private val output = plan.output
  private val marks = new MatchedBitmap(output, () => check())
  private val together = plan.runs.map(new RunAggregation(plan, _, block)).orNull
  private val sweeper =
    new ChunkSweeper(chunks, residentSide, plan, startWorker, local, together, counters)
  private var batch: RunBatch = _
  private var next = 0
  private var size = 0
  private var isBoxLeft = false
  private var isSwept = true
  private var isNewChunk = false
  private var unpaired: List[UnpairedRows] = Nil
  private var pairs = 0
  private var pairsToCheck = SweepTask.PairsPerCheck

  var leftRow = 0
  var rightRow = 0
  var leftStep = 0
  var rightStep = 0

  /** Whether the run is of pairs, and not of rows of one side. */
  var isPair = true

  /** Which of the condition's sweeps found the pair. */
  var sweepNumber = 0

  /** Whether the pair stands for all pairs of its run, with the values [[runColumns]]. */
  var isRun = false

  /** Whether the run is all that is emitted of the row that it belongs to; see [[SweepNode.partialRowId]]. */
  var isWhole = false

  /** Whether unpaired rows have a match. */
  var hasMatch = false

  var left: RowBlock = _
  var right: RowBlock = _

  /** Goes on to the next run, if the current one has no pairs left; false after the last one. */
  def hasRun(): Boolean = {
    while (pairs == 0 && step()) {}
    pairs > 0
  }

  /**
   * The number of pairs from `leftRow` and `rightRow` on that are then the caller's: those of the
   * run, or the next part of a long one. They are asked for last.
   */
  def takePairs(): Int = {
    val n = math.min(pairs, SweepTask.PairsPerCheck)
    pairs -= n
    leftRow += n * leftStep
    rightRow += n * rightStep
    pairsToCheck -= n
    if (pairsToCheck <= 0) check()
    n
  }

  private def check(): Unit = {
    context.killTaskIfInterrupted()
    pairsToCheck = SweepTask.PairsPerCheck
  }

  /** Goes past the rest of the run. */
  def endRun(): Unit = pairs = 0

  /** Whether the rows changed since this was asked last. */
  def takeChunkChange(): Boolean = {
    val changed = isNewChunk
    isNewChunk = false
    changed
  }

  /** Gives back the `n` pairs from (l, r) on, to be taken when the caller is called again. */
  def suspend(l: Int, r: Int, n: Int): Unit = {
    leftRow = l
    rightRow = r
    pairs += n
  }

  /** The number of a row of the stream, of which several pieces are emitted; -1 where it is one. */
  def partialRowIdOf(row: Int): Long = if (isWhole) -1L else chunks.streamNumber(row)

  /** What the pairs of a run are together, as columns of one row. */
  def runColumns: Array[BlockColumn] = together.values

  /** Counts output rows: a local number is cheaper than the metric. */
  def emitted(n: Int): Unit = emittedRows.value += n

  /** Records that a pair has passed the residual condition; fails if its formula does. */
  def setMatched(l: Int, r: Int): Unit = marks.pair(left, right, l, r)

  /** Whether a pair can tell nothing new: for joins that return no pairs. */
  def isDecided(l: Int, r: Int): Boolean = marks.isDecided(left, right, l, r)

  /** A step on: a run, a batch of runs, or a chunk. False after the last chunk. */
  private def step(): Boolean =
    if (next < size) { startRun(); true }
    else if (!isSwept) { fetch(); true }
    else if (together != null && together.nextPoint()) { startPoint(); true }
    else if (unpaired.nonEmpty) { startUnpairedRun(); true }
    else nextChunk()

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
    isRun = together != null && together.startRun(next)
    if (isRun) pairs = 1
    isWhole = pairs == 1 && chunks.meetsAll
    next += 1
  }

  /** A point, with one of the partners that its pair stands for. */
  private def startPoint(): Unit = {
    val isPointLeft = together.pointSide == LeftSide
    isPair = true
    isRun = true
    leftRow = if (isPointLeft) together.point else together.partner
    rightRow = if (isPointLeft) together.partner else together.point
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

  private def show(l: RowBlock, r: RowBlock): Unit = {
    isNewChunk ||= (l ne left) || (r ne right)
    left = l
    right = r
  }

  /** Reads the next batch of runs. */
  private def fetch(): Unit = {
    check()
    publish()
    isSwept = !sweeper.nextRuns()
    if (!isSwept) take(sweeper.runs)
    else {
      if (together != null) together.endSweeps()
      unpaired = settled
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
    size =
      if (together != null) together.take(runs, boxes)
      else if (output.hasPairs || plan.hasResidual) runs.size
      else 0
  }

  private def block(side: Side): RowBlock = if (side == LeftSide) left else right

  private def nextChunk(): Boolean = chunks.next() && {
    check()
    if (chunks.residentChanged) sweeper.residentChanged()
    if (residentSide == LeftSide) show(chunks.resident, chunks.stream)
    else show(chunks.stream, chunks.resident)
    isNewChunk = true
    if (together != null) together.startChunk()
    if (left.numRows > 0 && right.numRows > 0) {
      sweeper.start(left, right)
      isSwept = false
    } else unpaired = settled
    true
  }

  /** The rows that no later chunk can match. */
  private def settled: List[UnpairedRows] = for {
    side <- output.tracked.toList
    own = if (side != residentSide) Some(chunks.stream -> chunks.settledStream)
    else Option.when(chunks.residentEnds)(chunks.resident -> chunks.resident.numRows)
    (block, rows) <- own ++ chunks.leftovers.of(side).map(block => block -> block.numRows)
    outcome <- output.unpaired(side)
  } yield new UnpairedRows(side, block, rows, outcome)

  /** Brings the metrics up to date; called now and then, and when the task ends. */
  def publish(): Unit = {
    sweeper.publish()
    counters.values.foreach(_.publish())
  }
}

private object SweepTask {

  /** So few that it takes seconds only if a pair takes a quarter of a millisecond. */
  private val PairsPerCheck = 1 << 13
}
