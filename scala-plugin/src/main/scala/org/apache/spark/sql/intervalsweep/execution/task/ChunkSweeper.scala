// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.aggregates.SummedColumns
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.chunks.JoinChunks
import org.apache.spark.sql.intervalsweep.execution.metrics.{Counter, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.runs.{
  LocalSweep, RunBatch, RunSource, SweepSize, SweepStatistics
}
import org.apache.spark.sql.intervalsweep.execution.worker.SweepWorker

/**
 * Sweeps each chunk. The task itself sweeps a small chunk, and the worker sweeps any other. The
 * build-side rows go to the worker once for all chunks that share them.
 *
 * @param startWorker starts the worker; called once, and only if a chunk is not small
 * @param local sweeps the small chunks
 * @param aggregation aggregates runs, if runs are aggregated
 */
private[task] final class ChunkSweeper(
    chunks: JoinChunks,
    buildSide: Side,
    plan: TaskPlan,
    startWorker: () => SweepWorker,
    local: LocalSweep,
    aggregation: Option[RunAggregation],
    counters: Map[String, Counter]) {
  private val statistics = new SweepStatistics
  private val pythonTime = counters(SweepMetrics.PythonTime)
  private var worker: SweepWorker = _
  private var source: RunSource = _
  private var isBuildSent = false

  /** Starts with the current chunk of `chunks`. */
  def start(left: RowBlock, right: RowBlock): Unit = {
    def block(side: Side): RowBlock = if (side == LeftSide) left else right
    source = null
    source =
      if (local.takes(chunks, block)) { local.start(left, right); local }
      else timed(startInWorker(block))
  }

  /** Call it if the build side has other rows than before. */
  def buildChanged(): Unit = isBuildSent = false

  /** Reads the next batch of [[runs]] of the chunk; false after the last one. */
  def nextRuns(): Boolean = timed(source.nextRuns(statistics))

  def runs: RunBatch = source.runs

  /** Updates the metrics of sweeps. */
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
  }

  private def startInWorker(block: Side => RowBlock): RunSource = {
    if (worker == null) worker = startWorker()
    val measured = aggregation.fold(Map.empty[Side, SummedColumns])(_.measure())
    if (!isBuildSent)
      worker.sendBuild(chunks.build, measured.get(buildSide), chunks.token)
    isBuildSent = true
    worker.sendProbe(
      chunks.probe,
      measured.get(buildSide.other),
      plan.sweeps.map(size(_, block)),
      aggregation.fold(plan.sweeps.map(_ => Option.empty[Int]))(_.sums))
    worker
  }

  private def size(sweep: Sweep, block: Side => RowBlock): SweepSize =
    SweepSize(block(sweep.boxes).numRows, block(sweep.points).numRows)

  /** Adds the time that the worker takes to the metric. */
  private def timed[T](body: => T): T =
    if (source eq local) body
    else {
      val start = System.nanoTime()
      try body
      finally pythonTime.value += System.nanoTime() - start
    }
}
