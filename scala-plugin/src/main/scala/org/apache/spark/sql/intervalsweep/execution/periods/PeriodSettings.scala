// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.block.TaskMemory
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.worker.{Json, WorkerSettings}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{MeasureKind, PeriodMeasure, PeriodRule}

/**
 * The settings of a sweep that every task needs; made on the driver.
 *
 * @param columns the columns of the rows
 * @param batchRows the number of rows that are processed together
 */
private[periods] case class PeriodSettings(
    rule: PeriodRule,
    columns: PeriodColumns,
    measures: Seq[PeriodMeasure],
    results: Seq[Expression],
    output: Seq[Attribute],
    worker: WorkerSettings,
    batchRows: Int,
    metrics: Map[String, SQLMetric]) {

  /** The number of rows that are sent at once, unless one group has more. */
  def chunkRows: Int = PeriodSettings.ChunkBatches * batchRows

  def keys: Seq[Attribute] = columns.keys
  def numbers: Seq[Expression] = columns.numbers

  /** Settings for rows that consist of their keys and numbers only. */
  def narrow: PeriodSettings = copy(columns = columns.narrow)

  /**
   * The number of LONGs that the worker returns with a period: how often the row is valid, or the
   * states of the measures.
   */
  def returned: Int = rule match {
    case _: PeriodRule.Count => 1
    case _ => measures.size
  }

  /** True if there is a result even without rows. */
  def isOfEmpty: Boolean = keys.isEmpty && rule == PeriodRule.Values(ofEmpty = true)

  def isOfIslands: Boolean =
    PeriodSettings.isOfIslands(rule, hasSides = measures.isEmpty && numbers.nonEmpty)

  /**
   * How often a row is in the result if it is the only one with its keys, given its weight. The
   * worker need not see such rows. None if it must.
   */
  def copiesOfSingle: Option[Long => Long] = rule match {
    case _ if keys.isEmpty => None
    case PeriodRule.Gaps | PeriodRule.Values(true) => None
    case count: PeriodRule.Count =>
      Some(weight => count.copiesOf(math.max(weight, 0), math.max(-weight, 0)))
    case _ =>
      Option.when(measures.forall(m => PeriodSettings.KindsOfRows.contains(m.kind)))(_ => 1L)
  }

  def isCount: Boolean = rule.isInstanceOf[PeriodRule.Count]

  /** The memory of a task's chunks; released when the task ends. */
  def memory(context: TaskContext): TaskMemory =
    TaskMemory.of(context, Some(metrics(SweepMetrics.PeakMemory)))
}

private[periods] object PeriodSettings {
  private val ChunkBatches = 4

  /**
   * Measures whose state for one row is the input. A sum of fractions is not among them: the sum of
   * -0.0 alone is 0.0.
   */
  private val KindsOfRows =
    Set[MeasureKind](MeasureKind.Sum, MeasureKind.Least, MeasureKind.Greatest)

  /** The most batches of rows that a task keeps in memory, if it gets the memory. */
  val GatheredBatches = 64

  /** A chunk may have this many times `chunkRows`, if its last groups are large. */
  val MostChunks = 2

  /** True if the result is the periods in which something is valid, or the gaps between them. */
  def isOfIslands(rule: PeriodRule, hasSides: Boolean): Boolean =
    rule == PeriodRule.Islands || (rule == PeriodRule.Gaps && !hasSides)

  /** The first message to the worker. */
  def openMessage(
      rule: PeriodRule,
      measures: Seq[PeriodMeasure],
      maxRows: Int): String = {
    val (floats, integers) = measures.map(_.kind).partition(_ == MeasureKind.FloatSum)
    val values = Seq(
      "values" -> Json.array(integers.map(kind => Json.of(kind.name))),
      "floats" -> Json.of(floats.size))
    val periods = rule match {
      case PeriodRule.CoalesceUpTo(length) =>
        Seq("rule" -> Json.of(rule.name), "length" -> Json.of(length))
      case count: PeriodRule.Count => Seq("rule" -> Json.of(count.name))
      case PeriodRule.Values(ofEmpty) => values :+ "empty" -> Json.of(ofEmpty)
      case PeriodRule.Cuts | PeriodRule.Islands => values :+ "ends" -> Json.of(rule.name)
    }
    Json.obj(
      "protocol" -> Json.of(WorkerSettings.Protocol),
      "periods" -> Json.obj(periods: _*),
      "maxRuns" -> Json.of(maxRows)).toString
  }
}
