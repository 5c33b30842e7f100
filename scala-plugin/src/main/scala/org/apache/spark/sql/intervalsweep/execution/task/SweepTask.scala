// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.{LeftSide, RightSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{
  BatchPartners, BoxSums, GatheredPartners, Measures, PointRange, RunAggregates, RunLayout
}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, UnpairedRows, RowBlock}
import org.apache.spark.sql.intervalsweep.execution.metrics.{Counter, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.runs.{
  LocalSweep, RunBatch, RunSource, SweepSize, SweepStatistics
}
import org.apache.spark.sql.intervalsweep.execution.windows.Windows
import org.apache.spark.sql.intervalsweep.execution.worker.SweepWorker

/**
 * What a task does with the matches.
 *
 * @param hasResidual whether a match of the sweeps has yet to be judged, by the caller
 * @param runs what is emitted of the pairs of a run together, if they need not be emitted one by one
 */
case class TaskPlan(
    sweeps: Array[Sweep],
    output: JoinOutput,
    hasResidual: Boolean,
    runs: Option[RunLayout]) {

  /** Whether it is enough to know which boxes of a sweep have a match. */
  def isFirstOnly(sweep: Sweep): Boolean = !hasResidual && output.needsFirstMatchOnly(sweep.boxes)

  /** Whether it is enough to know what the points of a box add up to. With one axis a run says that. */
  def mayBeSummed(sweep: Sweep): Boolean =
    sweep.second.isDefined && !hasResidual && output.hasPairs && !output.isTracked(sweep.points) &&
      runs.exists { layout =>
        layout.groupSide.forall(_ == sweep.boxes) && Measures.areEnough(layout, sweep.points)
      }
}

/**
 * The join of one task: goes through the windows, has each swept by the worker, and hands out the
 * matches as runs of pairs, and then the unpaired rows as runs with no partner, whose
 * position is -1. Generated code and the interpreted iterator both loop like this:
 *
 * {{{
 *   while (task.hasRun()) {
 *     if (task.takeWindowChange()) ...           // the columns are others than before
 *     l = task.leftRow; r = task.rightRow        // a long run comes in parts
 *     for (n = task.takePairs(); n > 0; n -= 1) {
 *       ... emit (l, r) ...                      // or suspend(l, r, n) and go on later
 *       l += task.leftStep; r += task.rightStep
 *     }
 *   }
 * }}}
 *
 * @param startWorker starts the worker; called once, and only if a window is not small
 * @param local sweeps the small windows
 * @param context tells whether the task was killed: no iterator of Spark's is asked while runs are
 *   expanded, and if the caller rejects all pairs, nothing is emitted, either
 */
final class SweepTask(
    windows: Windows,
    residentSide: Side,
    plan: TaskPlan,
    startWorker: () => SweepWorker,
    local: LocalSweep,
    metrics: Map[String, SQLMetric],
    context: TaskContext) {
  private val counters = SweepMetrics.counted.map(name => name -> new Counter(metrics(name))).toMap
  private val emittedRows = counters(SweepMetrics.OutputRows)
  private val pythonTime = counters(SweepMetrics.PythonTime)
  private val statistics = new SweepStatistics
  private val output = plan.output
  private val trackedLeft = output.isTracked(LeftSide)
  private val trackedRight = output.isTracked(RightSide)
  private var worker: SweepWorker = _
  private var source: RunSource = _
  private var batch: RunBatch = _
  private var next = 0
  private var size = 0
  private var isBoxLeft = false
  private var isSwept = true
  private var isResidentSent = false
  private var isNewWindow = false
  private var unpaired: List[UnpairedRows] = Nil
  private var pairs = 0
  private var pairsToCheck = SweepTask.PairsPerCheck
  private val aggregates = plan.runs.map(new RunAggregates(_)).orNull
  private var ranges = Map.empty[Side, PointRange]
  private var partners: BatchPartners = _
  private var isTotal = false
  private var mostPairs = -1.0
  private var gathered: GatheredPartners = _
  private val summedPoints = plan.sweeps.filter(plan.mayBeSummed).map(_.points).toSet
  private var measures = Map.empty[Side, Measures]

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
  def takeWindowChange(): Boolean = {
    val changed = isNewWindow
    isNewWindow = false
    changed
  }

  /** Gives back the `n` pairs from (l, r) on, to be taken when the caller is called again. */
  def suspend(l: Int, r: Int, n: Int): Unit = {
    leftRow = l
    rightRow = r
    pairs += n
  }

  /** What the pairs of a run are together, as columns of one row. */
  def runColumns: Array[BlockColumn] = aggregates.results

  /** Counts output rows: a local number is cheaper than the metric. */
  def emitted(n: Int): Unit = emittedRows.value += n

  /** Records that a pair has passed the residual condition; fails if its formula does. */
  def setMatched(l: Int, r: Int): Unit = {
    if (left.hasFailures) left.raiseFailure(l, 1)
    if (right.hasFailures) right.raiseFailure(r, 1)
    if (trackedLeft) left.matched.set(l)
    if (trackedRight) right.matched.set(r)
  }

  /** Whether a pair can tell nothing new: for joins that return no pairs. */
  def isDecided(l: Int, r: Int): Boolean =
    if (trackedLeft) left.matched.get(l) else right.matched.get(r)

  /** A step on: a run, a batch of runs, or a window. False after the last window. */
  private def step(): Boolean =
    if (next < size) { startRun(); true }
    else if (!isSwept) { fetch(); true }
    else if (gathered != null && gathered.advance()) { startGathered(); true }
    else if (unpaired.nonEmpty) { startUnpairedRun(); true }
    else nextWindow()

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
    isRun = partners != null && (isTotal || pairs > 1 && pairs <= mostPairs)
    if (isRun) joinPairs(batch.box(next))
    next += 1
  }

  /** Lets the first pair of the run stand for all, or for all of the batch. */
  private def joinPairs(box: Int): Unit = {
    val boxes = if (isBoxLeft) LeftSide else RightSide
    if (isTotal) aggregates.total(boxes, block(boxes), batch, partners)
    else {
      partners.set(next)
      aggregates.compute(boxes, block(boxes), box, partners)
    }
    pairs = 1
  }

  /** A point and all its partners. */
  private def startGathered(): Unit = {
    val points = aggregates.layout.groupSide.get
    aggregates.compute(points, block(points), gathered.position, gathered)
    val isPointLeft = points == LeftSide
    isPair = true
    isRun = true
    leftRow = if (isPointLeft) gathered.position else gathered.partner
    rightRow = if (isPointLeft) gathered.partner else gathered.position
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
      hasMatch = rows.outcome
      leftRow = if (isLeft) rows.first else -1
      rightRow = if (isLeft) -1 else rows.first
      leftStep = if (isLeft) 1 else 0
      rightStep = 1 - leftStep
      pairs = rows.count
    }
  }

  private def show(l: RowBlock, r: RowBlock): Unit = {
    isNewWindow ||= (l ne left) || (r ne right)
    left = l
    right = r
  }

  /** Reads the next batch of runs. */
  private def fetch(): Unit = {
    check()
    publish()
    isSwept = !timed(source.nextRuns(statistics))
    if (!isSwept) take(source.runs)
    else {
      if (gathered != null) gathered.finish()
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
    if (!plan.hasResidual) {
      if (left.hasFailures || right.hasFailures) {
        raiseFailures(runs, block(boxes), block(boxes.other))
      }
      if (output.isTracked(boxes)) setBoxes(runs, block(boxes))
      if (output.isTracked(boxes.other)) setPoints(runs, block(boxes.other))
    }
    next = 0
    size = if (output.hasPairs || plan.hasResidual) runs.size else 0
    partners = null
    if (runs.sums != null) partners = new BoxSums(measures(boxes.other), runs)
    else if (aggregates != null && !plan.hasResidual && aggregates.reserve(left, right))
      takeTogether(runs, boxes)
    isTotal = partners != null && size > 0 && aggregates.areAdditive && runs.pairs <= mostPairs
    if (isTotal) size = 1
  }

  /** Has runs of boxes by which is grouped emitted as one pair, and gathers others by points. */
  private def takeTogether(runs: RunBatch, boxes: Side): Unit = {
    limitPairs()
    val isByBox = aggregates.isByBox(boxes)
    if (isByBox) {
      val range = rangeOf(boxes.other)
      range.take(runs)
      partners = range
    } else if (block(boxes).numRows <= mostPairs) {
      gather(runs, boxes)
      size = 0
    }
  }

  private def limitPairs(): Unit =
    if (mostPairs < 0) mostPairs = aggregates.mostPairs(block)

  private def gather(runs: RunBatch, boxes: Side): Unit = {
    if (gathered == null) gathered = aggregates.gathered(boxes, block)
    var k = 0
    while (k < runs.size) {
      gathered.add(runs.box(k), runs.first(k), runs.count(k))
      k += 1
    }
  }

  private def rangeOf(points: Side): PointRange = {
    if (!ranges.contains(points)) ranges += points -> new PointRange(block(points))
    ranges(points)
  }

  private def raiseFailures(runs: RunBatch, boxes: RowBlock, points: RowBlock): Unit =
    (0 until runs.size).foreach { k =>
      context.killTaskIfInterrupted()
      if (boxes.hasFailures) boxes.raiseFailure(runs.box(k), 1)
      if (points.hasFailures) points.raiseFailure(runs.first(k), runs.count(k))
    }

  private def setBoxes(runs: RunBatch, block: RowBlock): Unit = {
    var k = 0
    while (k < runs.size) { block.matched.set(runs.box(k)); k += 1 }
  }

  private def setPoints(runs: RunBatch, block: RowBlock): Unit = {
    var k = 0
    while (k < runs.size) {
      if (k % SweepTask.RunsPerCheck == 0) check()
      block.matched.set(runs.first(k), runs.first(k) + runs.count(k))
      k += 1
    }
  }

  private def block(side: Side): RowBlock = if (side == LeftSide) left else right

  private def nextWindow(): Boolean = windows.next() && {
    check()
    if (windows.residentChanged) isResidentSent = false
    if (residentSide == LeftSide) show(windows.resident, windows.stream)
    else show(windows.stream, windows.resident)
    isNewWindow = true
    ranges = Map.empty
    gathered = null
    mostPairs = -1
    if (left.numRows > 0 && right.numRows > 0) sweep() else unpaired = settled
    true
  }

  private def sweep(): Unit = {
    source = null
    source = if (local.takes(windows, block)) sweepHere() else timed(sweepInWorker())
    isSwept = false
  }

  private def sweepHere(): RunSource = {
    local.start(left, right)
    local
  }

  private def sweepInWorker(): RunSource = {
    if (worker == null) worker = startWorker()
    measures = summedPoints.map(side => side -> Measures(plan.runs.get, side, block(side))).toMap
    if (!isResidentSent)
      worker.sendResident(windows.resident, measures.get(residentSide), windows.token)
    isResidentSent = true
    val isSummed = canBeSummed
    val sums = plan.sweeps.map { sweep =>
      Option.when(isSummed && plan.mayBeSummed(sweep))(measures(sweep.points).size)
    }
    worker.sendStream(
      windows.stream,
      measures.get(residentSide.other),
      plan.sweeps.map(size),
      sums)
    worker
  }

  /** Whether no sum can leave 64 bits, and no row of the window is one that must not match. */
  private def canBeSummed: Boolean =
    summedPoints.nonEmpty && !left.hasFailures && !right.hasFailures &&
      aggregates.reserve(left, right) && {
        limitPairs()
        summedPoints.forall(block(_).numRows <= mostPairs)
      }

  private def size(sweep: Sweep): SweepSize =
    SweepSize(block(sweep.boxes).numRows, block(sweep.points).numRows)

  /** The rows that no later window can match. */
  private def settled: List[UnpairedRows] = for {
    side <- output.tracked.toList
    own = if (side != residentSide) Some(windows.stream -> windows.settledStream)
    else Option.when(windows.residentEnds)(windows.resident -> windows.resident.numRows)
    (block, rows) <- own ++ windows.leftovers.of(side).map(block => block -> block.numRows)
    outcome <- output.unpaired(side)
  } yield new UnpairedRows(side, block, rows, outcome)

  /** Counts the time that a worker takes. */
  private def timed[T](body: => T): T =
    if (source eq local) body
    else {
      val start = System.nanoTime()
      try body
      finally pythonTime.value += System.nanoTime() - start
    }

  /** Brings the metrics up to date; called now and then, and when the task ends. */
  def publish(): Unit = {
    counters(SweepMetrics.Candidates).value = statistics.candidates
    counters(SweepMetrics.SkippedBlocks).value = statistics.skippedBlocks
    counters(SweepMetrics.Runs).value = statistics.runs
    counters(SweepMetrics.KernelTime).value = statistics.kernelNanos
    if (worker != null) {
      counters(SweepMetrics.BytesSent).value = worker.bytesSent
      counters(SweepMetrics.BytesReceived).value = worker.bytesReceived
      counters(SweepMetrics.WaitTime).value = worker.nanosWaited
    }
    counters.values.foreach(_.publish())
  }
}

private object SweepTask {

  /** So few that it takes seconds only if a pair takes a quarter of a millisecond. */
  private val PairsPerCheck = 1 << 13

  /** Runs of which only the rows that they hold are marked. */
  private val RunsPerCheck = 1 << 8
}
