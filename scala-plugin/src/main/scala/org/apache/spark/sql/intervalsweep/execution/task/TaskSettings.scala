// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, Side}
import org.apache.spark.sql.intervalsweep.execution.aggregates.RunLayout
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockLayout, BlockMemory, RowBlock, TaskMemory, UnsweptRows
}
import org.apache.spark.sql.intervalsweep.execution.chunks.{ChunkSize, JoinChunks}
import org.apache.spark.sql.intervalsweep.execution.metrics.{SortTimer, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.runs.LocalSweep
import org.apache.spark.sql.intervalsweep.execution.worker.{SweepWorker, WorkerSettings}

/** The settings of a join that every task needs; made on the driver. */
case class TaskSettings(
    layouts: Map[Side, BlockLayout],
    keys: Map[Side, Seq[Expression]],
    plan: TaskPlan,
    pointSides: Set[Side],
    leadPoints: Side,
    worker: Map[Side, WorkerSettings],
    batchRows: Int,
    smallGroupPairs: Long,
    metrics: Map[String, SQLMetric]) {

  /**
   * The limits of chunks. Each chunk of boxes goes through the points once; each chunk of points is
   * searched.
   */
  def chunkSize(probe: Side): ChunkSize = ChunkSize(
    buildRows = TaskSettings.BuildBatches * batchRows,
    probeRows = batchRows *
      (if (pointSides(probe)) TaskSettings.PointBatches else TaskSettings.BoxBatches),
    groupRows = TaskSettings.GroupBatches * batchRows)

  def sortTimer: SortTimer = new SortTimer(metrics(SweepMetrics.SortTime))

  def block(side: Side, memory: BlockMemory): RowBlock = {
    val block = new RowBlock(layouts(side), memory)
    if (keys(side).isEmpty) block else block.grouped()
  }

  /** Blocks for rows that can match nothing, for the sides that keep such rows. */
  def leftovers(memory: BlockMemory): UnsweptRows = {
    val kept = plan.output.tracked.filter(plan.output.keepsUnmatched)
    val blocks = kept.map(side => side -> new RowBlock(layouts(side).withoutEndpoints, memory))
    new UnsweptRows(blocks.toMap, batchRows)
  }

  def task(
      chunks: JoinChunks,
      build: Side,
      range: Option[(Long, Long)],
      context: TaskContext): SweepTask = {
    val start = () => new SweepWorker(worker(build), range, context)
    val firstOnly = plan.sweeps.map(plan.isFirstOnly)
    val local =
      new LocalSweep(
        plan.sweeps,
        firstOnly,
        plan.limit.filterNot(_ => plan.hasResidual),
        range,
        batchRows,
        smallGroupPairs,
        context)
    val task = new SweepTask(chunks, build, plan, start, local, metrics, context)
    context.addTaskCompletionListener[Unit](_ => task.publish())
    task
  }

  /** The memory of a task's blocks; released when the task ends. */
  def memory(context: TaskContext): TaskMemory =
    TaskMemory.of(context, Some(metrics(SweepMetrics.PeakMemory)))
}

object TaskSettings {
  private val BuildBatches = 4
  private val BoxBatches = 4
  private val PointBatches = 16
  private val GroupBatches = 64

  def apply(node: SweepNode): TaskSettings =
    apply(
      node,
      node.joinOutput,
      side => layout(node, side, node.input(side).output),
      node.runLayout)

  /** @param input the columns of the side's rows, as a task gets them */
  def layout(node: SweepNode, side: Side, input: Seq[Attribute]): BlockLayout = {
    val condition = node.sweepCondition
    BlockLayout(
      input,
      node.payload(side),
      condition.endpoints(side),
      condition.sortEndpoint(side),
      condition.tieEndpoint(side),
      condition.checks(side),
      ties = if (side == LeftSide) Nil else node.ties)
  }

  def apply(
      node: SweepNode,
      output: JoinOutput,
      layout: Side => BlockLayout,
      runs: Option[RunLayout]): TaskSettings = {
    val sides = Side.all
    val plan = TaskPlan(
      node.sweepCondition.sweeps.toArray,
      output,
      node.sweepCondition.residual.isDefined,
      node.limit,
      runs)
    TaskSettings(
      layouts = sides.map(side => side -> layout(side)).toMap,
      keys = sides.map(side => side -> node.sweepCondition.keys(side)).toMap,
      plan = plan,
      pointSides = node.sweepCondition.sweeps.map(_.points).toSet,
      leadPoints = node.sweepCondition.sweeps.head.points,
      worker = sides.map(side => side -> WorkerSetup(node, plan, side)).toMap,
      batchRows = node.conf.getConf(IntervalSweepConf.BatchRows),
      smallGroupPairs = node.conf.getConf(IntervalSweepConf.SmallGroupPairs),
      metrics = node.metrics)
  }
}
