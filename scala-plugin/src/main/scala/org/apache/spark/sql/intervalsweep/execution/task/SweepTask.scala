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
 * The join of one task. It goes through the chunks and has each swept ([[ChunkSweeper]]). It hands
 * out the matches as runs of pairs. Unpaired rows follow as runs in which the other side's position
 * is -1. Generated code and the interpreted iterator both loop like this:
 *
 * {{{
 *   while (task.hasRun()) {
 *     if (task.takeChunkChange()) ...              // fetch the columns again
 *     l = task.leftRow; r = task.rightRow
 *     for (n = task.takePairs(); n > 0; n -= 1) {  // a long run comes in parts
 *       ... emit (l, r) ...                        // or suspend(l, r, n) and go on later
 *       l += task.leftStep; r += task.rightStep
 *     }
 *   }
 * }}}
 *
 * The task is a state machine. It starts in CHUNK, and `hasRun` takes steps until the state is RUN
 * or END. The table says which fields change with each event. The state is the last one in the
 * table whose condition is true: if BATCH ends, SWEEP is next, then POINTS, and so on upwards.
 *
 * {{{
 *   state     condition           event                  fields that change             next state
 *   CHUNK     -                   chunk with rows        left, right, isNewChunk,       SWEEP
 *                                 on both sides          isSwept = false
 *                                 other chunk            left, right, isNewChunk,       UNPAIRED
 *                                                        unpaired
 *                                 no chunk is left       -                              END
 *   UNPAIRED  unpaired.nonEmpty   run of rows            left, right, isNewChunk,       RUN
 *                                                        isPair = false, isRun = false,
 *                                                        isWhole = true, hasMatch,
 *                                                        rows, steps, pairs
 *                                 no row is left         unpaired = unpaired.tail       UNPAIRED
 *   POINTS    together has        point                  isPair = true, isRun = true,   RUN
 *             another point                              rows, pairs = 1
 *   SWEEP     !isSwept            batch of runs          batch, sweepNumber, isBoxLeft, BATCH
 *                                                        steps, next = 0, size
 *                                 no batch is left       isSwept = true, unpaired       POINTS
 *   BATCH     next < size         run                    isPair = true, isRun, isWhole, RUN
 *                                                        rows, pairs, next += 1
 *   RUN       pairs > 0           takePairs() = n        rows += n * steps, pairs -= n  RUN
 *                                 suspend(l, r, n)       rows = (l, r), pairs += n      RUN
 *                                 endRun()               pairs = 0                      BATCH
 * }}}
 *
 * In the table, rows stands for `leftRow` and `rightRow`, and steps for `leftStep` and `rightStep`.
 * In any state, `takeChunkChange` sets `isNewChunk` to false, `takePairs` counts `pairsToCheck`
 * down, and [[check]] resets it.
 *
 * @param startWorker starts the worker; called once, and only if a chunk is not small
 * @param local sweeps the small chunks
 * @param context tells whether the task was killed. The task must ask by itself: it calls no
 *   iterator of Spark's while it expands runs, and if the caller rejects all pairs, it emits
 *   nothing.
 */
final class SweepTask(
    chunks: JoinChunks,
    buildSide: Side,
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
    new ChunkSweeper(chunks, buildSide, plan, startWorker, local, together, counters)
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

  /** True if the run has pairs, false if it has unpaired rows of one side. */
  var isPair = true

  /** The number of the condition's sweep that found the pair. */
  var sweepNumber = 0

  /** True if the pair stands for all pairs of its run, with the values [[runColumns]]. */
  var isRun = false

  /** True if the run is everything that is emitted of its row; see [[SweepNode.partialRowId]]. */
  var isWhole = false

  /** True if the unpaired rows of the run have a match. */
  var hasMatch = false

  var left: RowBlock = _
  var right: RowBlock = _

  /** Moves to the next run, if the current one has no pairs left; false after the last one. */
  def hasRun(): Boolean = {
    while (pairs == 0 && step()) {}
    pairs > 0
  }

  /**
   * The number of pairs, from `leftRow` and `rightRow` on, that the caller then owns: those of the
   * run, or the next ones of a long run. Call it after reading the rows: it moves them on.
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

  /** Skips the rest of the run. */
  def endRun(): Unit = pairs = 0

  /** True if the blocks have changed since the last call. */
  def takeChunkChange(): Boolean = {
    val changed = isNewChunk
    isNewChunk = false
    changed
  }

  /** Gives back the `n` pairs from (l, r) on, which are taken when the caller is called again. */
  def suspend(l: Int, r: Int, n: Int): Unit = {
    leftRow = l
    rightRow = r
    pairs += n
  }

  /**
   * The number of a probe-side row that has several partial rows; -1 if it has a single output row.
   */
  def partialRowIdOf(row: Int): Long = if (isWhole) -1L else chunks.probeNumber(row)

  /** The values of the pairs of a run, as columns with one row. */
  def runColumns: Array[BlockColumn] = together.values

  /** Counts output rows in a local number, which is cheaper than the metric. */
  def emitted(n: Int): Unit = emittedRows.value += n

  /**
   * Marks the rows of a pair that has passed the residual condition. Raises the error of a failed
   * check.
   */
  def setMatched(l: Int, r: Int): Unit = marks.pair(left, right, l, r)

  /** True if a pair cannot change the result. For joins that emit no pairs. */
  def isDecided(l: Int, r: Int): Boolean = marks.isDecided(left, right, l, r)

  /** Takes one step: to a run, a batch of runs, or a chunk. False after the last chunk. */
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

  /** Starts a run of one pair: a point, and one of the matches that the pair stands for. */
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
    if (chunks.buildChanged) sweeper.buildChanged()
    if (buildSide == LeftSide) show(chunks.build, chunks.probe)
    else show(chunks.probe, chunks.build)
    isNewChunk = true
    if (together != null) together.startChunk()
    if (left.numRows > 0 && right.numRows > 0) {
      sweeper.start(left, right)
      isSwept = false
    } else unpaired = settled
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

  /**
   * The most pairs between two checks whether the task was killed. They take seconds only if a pair
   * takes a quarter of a millisecond.
   */
  private val PairsPerCheck = 1 << 13
}
