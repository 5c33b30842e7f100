package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * The join of one task: goes through the windows, has each swept by the worker, and hands out the
 * matches as runs of pairs. Generated code and the interpreted iterator both loop like this:
 *
 * {{{
 *   while (task.hasRun()) {
 *     if (task.takeWindowChange()) ...           // the columns are others than before
 *     l = task.leftRow; r = task.rightRow
 *     for (n = task.takePairs(); n > 0; n -= 1) {
 *       ... emit (l, r) ...                      // or suspend(l, r, n) and go on later
 *       l += task.leftStep; r += task.rightStep
 *     }
 *   }
 * }}}
 *
 * @param boxesLeft for each sweep, whether the left rows are its boxes
 * @param startWorker starts the worker; called once, and only if there is something to sweep
 */
final class SweepTask(
    windows: Windows,
    residentLeft: Boolean,
    boxesLeft: Array[Boolean],
    startWorker: () => SweepWorker,
    metrics: Map[String, SQLMetric]) {
  private val counters = SweepMetrics.counted.map(name => name -> new Counter(metrics(name))).toMap
  private val emittedRows = counters(SweepMetrics.OutputRows)
  private val pythonTime = counters(SweepMetrics.PythonTime)
  private val statistics = new SweepStatistics
  private var worker: SweepWorker = _
  private var batch: RunBatch = _
  private var next = 0
  private var size = 0
  private var isBoxLeft = false
  private var isSwept = true
  private var isNewWindow = false
  private var pairs = 0

  var leftRow = 0
  var rightRow = 0
  var leftStep = 0
  var rightStep = 0

  def left: RowBlock = if (residentLeft) windows.resident else windows.stream
  def right: RowBlock = if (residentLeft) windows.stream else windows.resident

  /** Goes on to the next run, if the current one has no pairs left; false after the last one. */
  def hasRun(): Boolean = pairs > 0 || {
    while (next == size && fetch()) {}
    next < size && { advance(); true }
  }

  /** The number of pairs in the run; they are then the caller's. */
  def takePairs(): Int = {
    val n = pairs
    pairs = 0
    n
  }

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
    pairs = n
  }

  /** Counts output rows: a local number is cheaper than the metric. */
  def emitted(n: Int): Unit = emittedRows.value += n

  private def advance(): Unit = {
    if (isBoxLeft) {
      leftRow = batch.box(next)
      rightRow = batch.first(next)
    } else {
      leftRow = batch.first(next)
      rightRow = batch.box(next)
    }
    pairs = batch.count(next)
    next += 1
  }

  /** Reads the next batch of runs, of this window or of the next; false when all is done. */
  private def fetch(): Boolean = {
    publish()
    if (!isSwept) isSwept = !inPython(worker.nextRuns(statistics))
    if (!isSwept) take(worker.runs)
    !isSwept || nextWindow()
  }

  private def take(runs: RunBatch): Unit = {
    batch = runs
    next = 0
    size = runs.size
    isBoxLeft = boxesLeft(runs.sweep)
    leftStep = if (isBoxLeft) 0 else 1
    rightStep = 1 - leftStep
  }

  private def nextWindow(): Boolean = windows.next() && {
    if (worker == null) worker = inPython(startWorker())
    if (windows.residentChanged) inPython(worker.sendResident(windows.resident, windows.token))
    inPython(worker.sendStream(windows.stream))
    isSwept = false
    isNewWindow = true
    true
  }

  private def inPython[T](body: => T): T = {
    val start = System.nanoTime()
    try body
    finally pythonTime.value += System.nanoTime() - start
  }

  /** Brings the metrics up to date; called now and then, and when the task ends. */
  def publish(): Unit = {
    counters(SweepMetrics.Candidates).value = statistics.candidates
    counters(SweepMetrics.Runs).value = statistics.runs
    counters(SweepMetrics.KernelTime).value = statistics.kernelNanos
    if (worker != null) {
      counters(SweepMetrics.BytesSent).value = worker.bytesSent
      counters(SweepMetrics.BytesReceived).value = worker.bytesReceived
    }
    counters.values.foreach(_.publish())
  }
}
