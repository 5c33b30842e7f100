package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** What the SQL tab shows of the join, by the names in Spark's metric map. */
object SweepMetrics {
  val OutputRows = "numOutputRows"
  val Candidates = "candidates"
  val Runs = "runs"
  val ReplicatedRows = "replicatedRows"
  val BytesSent = "pythonDataSent"
  val BytesReceived = "pythonDataReceived"
  val PythonTime = "pythonTime"
  val KernelTime = "kernelTime"
  val SortTime = "sortTime"

  /** What [[SweepTask]] counts. */
  val counted: Seq[String] =
    Seq(OutputRows, Candidates, Runs, BytesSent, BytesReceived, PythonTime, KernelTime)

  def create(sc: SparkContext): Map[String, SQLMetric] = Map(
    OutputRows -> SQLMetrics.createMetric(sc, "number of output rows"),
    Candidates -> SQLMetrics.createMetric(sc, "candidates"),
    Runs -> SQLMetrics.createMetric(sc, "runs"),
    ReplicatedRows -> SQLMetrics.createMetric(sc, "replicated rows"),
    BytesSent -> SQLMetrics.createSizeMetric(sc, "data sent to Python workers"),
    BytesReceived -> SQLMetrics.createSizeMetric(sc, "data returned from Python workers"),
    PythonTime -> SQLMetrics.createNanoTimingMetric(sc, "time in Python"),
    KernelTime -> SQLMetrics.createNanoTimingMetric(sc, "time in kernels"),
    SortTime -> SQLMetrics.createNanoTimingMetric(sc, "sort time"))
}

/** A plain number that is added to a metric now and then; a task may run several joins' parts. */
final class Counter(metric: SQLMetric) {
  var value = 0L
  private var published = 0L

  def publish(): Unit = {
    metric.add(value - published)
    published = value
  }
}

/** Adds up the time of sorts. */
final class SortTimer(metric: SQLMetric) {
  def time[T](body: => T): T = SQLMetrics.withTimingNs(metric)(body)
}
