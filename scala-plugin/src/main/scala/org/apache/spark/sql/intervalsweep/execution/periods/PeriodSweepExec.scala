// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.RowShuffle
import org.apache.spark.sql.intervalsweep.execution.worker.WorkerSettings
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  PeriodMeasure, PeriodRule, PeriodSweep, RuleNames
}

/**
 * Sweeps over the periods of rows with equal keys, in the worker. The parameters are those of
 * [[org.apache.spark.sql.intervalsweep.temporal.nodes.PeriodSweep]].
 *
 * @param isByRanges true if rows go to ranges of time; only possible without keys. It is decided
 *   once, because the partitioning that the nodes above see depends on it.
 */
case class PeriodSweepExec(
    rule: PeriodRule,
    keys: Seq[Attribute],
    from: Attribute,
    to: Attribute,
    weight: Option[Attribute],
    measures: Seq[PeriodMeasure],
    results: Seq[Expression],
    override val output: Seq[Attribute],
    child: SparkPlan,
    fired: Seq[String],
    isByRanges: Boolean)
    extends UnaryExecNode {

  override def nodeName: String = "PeriodSweep"

  override def producedAttributes: AttributeSet = AttributeSet(output ++ measures.map(_.state))

  override def simpleString(maxFields: Int): String = {
    val values = if (measures.isEmpty) "" else measures.mkString(", of [", ", ", "]")
    val rules = RuleNames.shown(fired).fold("")(", " + _)
    s"$nodeName ${rule.name}, by ${keys.mkString("[", ", ", "]")}$values$rules"
  }

  override def requiredChildDistribution: Seq[Distribution] = Seq(
    if (isByRanges) UnspecifiedDistribution
    else if (keys.isEmpty) AllTuples
    else ClusteredDistribution(keys))

  /** The partitioning of the child, with the names that the keys have in the output. */
  override def outputPartitioning: Partitioning = {
    val names = AttributeMap(results.zip(output).collect { case (key: Attribute, name) =>
      key -> name
    })
    child.outputPartitioning match {
      case _ if isByRanges => UnknownPartitioning(0)
      case e: Expression with Partitioning =>
        e.transform { case a: Attribute => names.getOrElse(a, a) }.asInstanceOf[Partitioning]
      case other => other
    }
  }

  override lazy val metrics: Map[String, SQLMetric] = {
    val all = SweepMetrics.create(sparkContext)
    PeriodSweepExec.Metrics.map(name => name -> all(name)).toMap ++
      (if (isByRanges) RowShuffle.createMetrics(sparkContext) else Nil)
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val (rows, settings) = (child.execute(), this.settings)
    if (isByRanges) {
      val (ranges, few) = sampledRanges(rows)
      val inRanges = settings.narrow
      few.fold(PeriodRanges.shuffled(rows, settings, ranges, metrics))(_.rows(sparkContext))
        .mapPartitionsWithIndexInternal { (range, rows) =>
          new PeriodSweepIterator(inRanges, rows, ranges.limits(range), TaskContext.get())
        }
    } else rows.mapPartitionsInternal { rows =>
      new PeriodSweepIterator(settings, rows, PeriodChunk.NoLimits, TaskContext.get())
    }
  }

  private def sampledRanges(rows: RDD[InternalRow]): (PeriodRanges, Option[FewPeriods]) = {
    val least = sparkContext.defaultParallelism
    val rangeRows = conf.getConf(IntervalSweepConf.RangeRows)
    PeriodRanges.of(rows, settings, rangeRows, least, math.max(least, conf.numShufflePartitions))
  }

  private def settings: PeriodSettings = {
    val batchRows = conf.getConf(IntervalSweepConf.BatchRows)
    PeriodSettings(
      rule,
      PeriodColumns(
        child.output,
        keys,
        from,
        to,
        if (measures.isEmpty) weight.toSeq else measures.map(_.input)),
      measures,
      results,
      output,
      WorkerSettings(PeriodSettings.openMessage(rule, measures, batchRows), batchRows),
      batchRows,
      metrics)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PeriodSweepExec =
    copy(child = newChild)
}

object PeriodSweepExec {

  /** True if a sweep can be by ranges of time: it is known where these may begin. */
  def isByRanges(sweep: PeriodSweep): Boolean = {
    import sweep._
    keys.isEmpty && PeriodRanges.mayCut(rule, weight, measures, results) &&
    (!PeriodSettings.isOfIslands(rule, weight.isDefined) || isRepeatable(child))
  }

  /** True if a query certainly has the same rows each time it is read. */
  private def isRepeatable(plan: LogicalPlan): Boolean = !plan.exists {
    case _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail | _: Sample | _: Window => true
    case node => node.expressions.exists(!_.deterministic)
  }

  private val Metrics = Seq(
    SweepMetrics.OutputRows,
    SweepMetrics.ReplicatedRows,
    SweepMetrics.BytesSent,
    SweepMetrics.BytesReceived,
    SweepMetrics.PythonTime,
    SweepMetrics.WaitTime,
    SweepMetrics.KernelTime,
    SweepMetrics.SortTime,
    SweepMetrics.PeakMemory,
    SweepMetrics.SpillSize)
}
