// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.metrics

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The metrics that the SQL tab shows for the join, by their names in Spark's metric map. */
object SweepMetrics {
  val OutputRows = "numOutputRows"
  val Candidates = "candidates"
  val Runs = "runs"
  val ReplicatedRows = "replicatedRows"
  val BytesSent = "pythonDataSent"
  val BytesReceived = "pythonDataReceived"
  val SkippedBlocks = "skippedBlocks"
  val PythonTime = "pythonTime"
  val WaitTime = "pythonWaitTime"
  val KernelTime = "kernelTime"
  val SortTime = "sortTime"
  val PeakMemory = "peakMemory"
  val SpillSize = "spillSize"
  val PartialRows = "partialRows"

  /** The metrics that [[SweepTask]] counts. */
  val counted: Seq[String] = Seq(
    OutputRows,
    Candidates,
    SkippedBlocks,
    Runs,
    BytesSent,
    BytesReceived,
    PythonTime,
    WaitTime,
    KernelTime)

  def create(sc: SparkContext): Map[String, SQLMetric] = Map(
    OutputRows -> SQLMetrics.createMetric(sc, "number of output rows"),
    Candidates -> SQLMetrics.createMetric(sc, "candidates"),
    SkippedBlocks -> SQLMetrics.createMetric(sc, "skipped blocks"),
    Runs -> SQLMetrics.createMetric(sc, "runs"),
    ReplicatedRows -> SQLMetrics.createMetric(sc, "replicated rows"),
    BytesSent -> SQLMetrics.createSizeMetric(sc, "data sent to Python workers"),
    BytesReceived -> SQLMetrics.createSizeMetric(sc, "data returned from Python workers"),
    PythonTime -> SQLMetrics.createNanoTimingMetric(sc, "time in Python"),
    WaitTime -> SQLMetrics.createNanoTimingMetric(sc, "time waiting for Python"),
    KernelTime -> SQLMetrics.createNanoTimingMetric(sc, "time in kernels"),
    SortTime -> SQLMetrics.createNanoTimingMetric(sc, "sort time"),
    PeakMemory -> SQLMetrics.createSizeMetric(sc, "peak memory"),
    SpillSize -> SQLMetrics.createSizeMetric(sc, "spill size"))

  /**
   * Metrics for a pass whose rows are not rows of the join: the number of its output rows is not
   * shown.
   */
  def withoutOutput(metrics: Map[String, SQLMetric], sc: SparkContext): Map[String, SQLMetric] =
    metrics.updated(OutputRows, SQLMetrics.createMetric(sc, "rows of an inner pass"))
}

/**
 * A plain number that is published to a metric from time to time. It adds differences and does not
 * set the metric, since a task may run several parts of a join.
 */
final class Counter(metric: SQLMetric) {
  var value = 0L
  private var published = 0L

  def publish(): Unit = {
    metric.add(value - published)
    published = value
  }
}

/** Adds the time of sorts to a metric. */
final class SortTimer(metric: SQLMetric) {
  def time[T](body: => T): T = {
    val started = System.nanoTime()
    try body
    finally metric.add(System.nanoTime() - started)
  }
}
