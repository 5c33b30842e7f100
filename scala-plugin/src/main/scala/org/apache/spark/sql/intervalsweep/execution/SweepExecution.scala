// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.util.UUID

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.{LeftSide, RightSide, Side}

/**
 * One execution of an [[IntervalSweepJoinExec]]: what the driver prepares.
 *
 * @param input what is joined task by task: the rows of the side that is not broadcast, or, in
 *   each partition, [[TwoInputs]] or [[DecidedRows]]
 * @param tasks makes the join of a task from its input
 */
final class SweepExecution(
    node: IntervalSweepJoinExec,
    val input: RDD[InternalRow],
    val tasks: SweepTasks) {

  /** The join without generated code. */
  def interpreted(): RDD[InternalRow] = {
    val factory = tasks
    val reader = PairReader(
      node.payload(LeftSide),
      node.payload(RightSide),
      node.residual,
      node.existence,
      node.joinOutput,
      node.runs.getOrElse(Nil),
      node.output)
    input.mapPartitionsInternal(rows => reader.read(factory.open(rows)))
  }
}

/**
 * Both inputs of a task in one iterator, which only [[SweepTasks]] takes apart. Some of Spark's
 * operators, UNION ALL is one, make whole-stage code of children with one input only.
 *
 * @param partition the number of the join's partition; the number that generated code has may be
 *   that of another operator's
 */
final class TwoInputs(
    val partition: Int,
    val left: Iterator[InternalRow],
    val right: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = left.hasNext || right.hasNext
  override def next(): InternalRow = throw new UnsupportedOperationException
}

object TwoInputs {
  def zip(left: RDD[InternalRow], right: RDD[InternalRow]): RDD[InternalRow] =
    left.zipPartitions(right)((l, r) => Iterator((l, r))).mapPartitionsWithIndexInternal {
      (k, pairs) =>
        val (l, r) = pairs.next()
        new TwoInputs(k, l, r)
    }
}

object SweepExecution {

  /** Runs what has to run before the join itself: broadcasts, samples. */
  def apply(node: IntervalSweepJoinExec): SweepExecution = node.mode match {
    case SweepMode.Broadcast(side) =>
      val rows = node.input(side).executeBroadcast[Array[InternalRow]]()
      val tasks = new BroadcastTasks(TaskSettings(node), side, rows, UUID.randomUUID().toString)
      new SweepExecution(node, node.input(side.other).execute(), tasks)
    case SweepMode.ByKeys | SweepMode.BySplitKeys =>
      val input = TwoInputs.zip(node.left.execute(), node.right.execute())
      val tasks = new SortedTasks(TaskSettings(node), ranges = None)
      new SweepExecution(node, input, tasks)
    case SweepMode.ByRanges => RangeExecution(node)
  }
}

/** Makes the join of one task; sent to the executors. */
trait SweepTasks extends Serializable {

  /** @param input a partition of [[SweepExecution.input]] */
  def open(input: Iterator[InternalRow]): SweepTask
}

/**
 * What generated code refers to: the tasks of the node's one execution, in whose place it stands as
 * long as the query does not run. Code is generated for EXPLAIN, too.
 */
final class GeneratedTasks(node: IntervalSweepJoinExec) extends SweepTasks {
  override def open(input: Iterator[InternalRow]): SweepTask = node.execution.tasks.open(input)
  private def writeReplace(): AnyRef = node.execution.tasks
}

/** What every task of a join needs to know; made on the driver. */
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

  /** Each window of boxes goes through the points once, and each of points is searched. */
  def windowSize(stream: Side): WindowSize = WindowSize(
    residentRows = TaskSettings.ResidentBatches * batchRows,
    streamRows = batchRows *
      (if (pointSides(stream)) TaskSettings.PointBatches else TaskSettings.BoxBatches),
    groupRows = TaskSettings.GroupBatches * batchRows)

  def sortTimer: SortTimer = new SortTimer(metrics(SweepMetrics.SortTime))

  def block(side: Side, memory: BlockMemory): RowBlock = {
    val block = new RowBlock(layouts(side), memory)
    if (keys(side).isEmpty) block else block.grouped()
  }

  /** Blocks for rows that can match nothing, of the sides that keep them. */
  def leftovers(memory: BlockMemory): Leftovers = {
    val kept = plan.output.tracked.filter(plan.output.keepsUnmatched)
    val blocks = kept.map(side => side -> new RowBlock(layouts(side).withoutEndpoints, memory))
    new Leftovers(blocks.toMap, batchRows)
  }

  def task(
      windows: Windows,
      resident: Side,
      range: Option[(Long, Long)],
      context: TaskContext): SweepTask = {
    val start = () => new SweepWorker(worker(resident), range, context)
    val firstOnly = plan.sweeps.map(plan.isFirstOnly)
    val local =
      new LocalSweep(plan.sweeps, firstOnly, range, batchRows, smallGroupPairs, context)
    val task = new SweepTask(windows, resident, plan, start, local, metrics, context)
    context.addTaskCompletionListener[Unit](_ => task.publish())
    task
  }

  /** The memory of a task's blocks; given back when the task ends. */
  def memory(context: TaskContext): TaskMemory = {
    val memory = new TaskMemory(context.taskMemoryManager())
    context.addTaskCompletionListener[Unit] { _ =>
      metrics(SweepMetrics.PeakMemory).add(memory.peak)
      memory.releaseAll()
    }
    memory
  }
}

object TaskSettings {
  private val ResidentBatches = 4
  private val BoxBatches = 4
  private val PointBatches = 16
  private val GroupBatches = 64

  def apply(node: IntervalSweepJoinExec): TaskSettings =
    apply(
      node,
      node.joinOutput,
      side => layout(node, side, node.input(side).output),
      node.runLayout)

  /** @param input the columns of the side's rows as a task gets them */
  def layout(node: IntervalSweepJoinExec, side: Side, input: Seq[Attribute]): BlockLayout = {
    val condition = node.sweepCondition
    BlockLayout(
      input,
      node.payload(side),
      condition.endpoints(side),
      condition.sortSlot(side),
      condition.tieSlot(side),
      condition.checks(side))
  }

  def apply(
      node: IntervalSweepJoinExec,
      output: JoinOutput,
      layout: Side => BlockLayout,
      runs: Option[RunLayout]): TaskSettings = {
    val sides = Seq[Side](LeftSide, RightSide)
    val plan = TaskPlan(node.sweeps.toArray, output, node.residual.isDefined, runs)
    TaskSettings(
      layouts = sides.map(side => side -> layout(side)).toMap,
      keys = sides.map(side => side -> node.sweepCondition.keys(side)).toMap,
      plan = plan,
      pointSides = node.sweeps.map(_.points).toSet,
      leadPoints = node.sweeps.head.points,
      worker = sides.map(side => side -> WorkerSetup(node, plan, side)).toMap,
      batchRows = node.conf.getConf(IntervalSweepConf.BatchRows),
      smallGroupPairs = node.conf.getConf(IntervalSweepConf.SmallGroupPairs),
      metrics = node.metrics)
  }
}

/** Tasks that read one input and have the other by broadcast. */
final class BroadcastTasks(
    settings: TaskSettings,
    side: Side,
    rows: Broadcast[Array[InternalRow]],
    join: String)
    extends SweepTasks {

  override def open(input: Iterator[InternalRow]): SweepTask = {
    val context = TaskContext.get()
    val streamed = side.other
    val index = BroadcastIndex.of(
      rows.value,
      join,
      settings.layouts(side),
      settings.keys(side),
      settings.sortTimer,
      context)
    val memory = settings.memory(context)
    val leftovers = settings.leftovers(memory)
    val windows = new BroadcastWindows(
      index,
      streamed,
      input,
      settings.block(streamed, memory),
      leftovers,
      groupOf(index, streamed, leftovers.isKept(streamed)),
      settings.windowSize(streamed),
      sortStream = settings.pointSides(streamed),
      settings.sortTimer,
      token = join)
    settings.task(windows, resident = side, range = None, context)
  }

  /** The key groups of the other side's rows; null when the join has no keys. */
  private def groupOf(index: BroadcastIndex, streamed: Side, isKept: Boolean): GroupReader = {
    val keys = settings.keys(streamed)
    if (keys.isEmpty) null
    else new GroupReader(index.groups, keys, settings.layouts(streamed).input, isKept)
  }
}

/**
 * Tasks that read two inputs, sorted by their keys if there are any.
 *
 * @param ranges the ranges that the partitions stand for, if they do
 */
final class SortedTasks(
    settings: TaskSettings,
    ranges: Option[Ranges])
    extends SweepTasks {

  override def open(input: Iterator[InternalRow]): SweepTask = {
    val context = TaskContext.get()
    val inputs = input.asInstanceOf[TwoInputs]
    val memory = settings.memory(context)
    val resident = settings.leadPoints
    def sorted(side: Side): SortedInput = new SortedInput(
      side,
      if (side == LeftSide) inputs.left else inputs.right,
      settings.keys(side),
      settings.layouts(side).input)
    val windows = new SortedWindows(
      sorted(resident),
      sorted(resident.other),
      settings.block(resident, memory),
      settings.block(resident.other, memory),
      settings.leftovers(memory),
      settings.windowSize(resident.other),
      sortStream = settings.pointSides(resident.other),
      settings.sortTimer,
      settings.metrics(SweepMetrics.SpillSize))
    settings.task(windows, resident, ranges.map(_.limits(inputs.partition)), context)
  }
}
