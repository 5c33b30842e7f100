package org.apache.spark.sql.intervalsweep.execution

import java.util.UUID

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BindReferences, Expression, SortOrder}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.{LeftSide, RightSide, Side}

/**
 * One execution of an [[IntervalSweepJoinExec]]: what the driver prepares.
 *
 * @param input what is joined task by task: the rows of the side that is not broadcast, or, in
 *   each partition, [[TwoInputs]]
 * @param tasks makes the join of a task from its input
 */
final class SweepExecution(
    node: IntervalSweepJoinExec,
    val input: RDD[InternalRow],
    val tasks: SweepTasks) {

  /** The join without generated code. */
  def interpreted(): RDD[InternalRow] = {
    val factory = tasks
    val pairs = PairReader(node)
    input.mapPartitions(rows => pairs.read(factory.open(rows)))
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
    left.zipPartitions(right)((l, r) => Iterator((l, r))).mapPartitionsWithIndex { (k, pairs) =>
      val (l, r) = pairs.next()
      new TwoInputs(k, l, r)
    }
}

object SweepExecution {

  /** Runs what has to run before the join itself: broadcasts, samples. */
  def apply(node: IntervalSweepJoinExec): SweepExecution = {
    val settings = TaskSettings(node)
    node.mode match {
      case SweepMode.Broadcast(side) =>
        val rows = node.input(side).executeBroadcast[Array[InternalRow]]()
        val tasks = new BroadcastTasks(settings, side, rows, UUID.randomUUID().toString)
        new SweepExecution(node, node.input(side.other).execute(), tasks)
      case SweepMode.ByKeys =>
        val input = TwoInputs.zip(node.left.execute(), node.right.execute())
        new SweepExecution(node, input, new SortedTasks(settings, sort = None, ranges = None))
      case SweepMode.ByRanges => byRanges(node, settings)
    }
  }

  private def byRanges(node: IntervalSweepJoinExec, settings: TaskSettings): SweepExecution = {
    val rows = Map[Side, RDD[InternalRow]](
      LeftSide -> node.left.execute(),
      RightSide -> node.right.execute())
    val ranges = sampleRanges(node, rows)
    def shuffled(side: Side): RDD[InternalRow] = RangeShuffle(
      rows(side),
      node.input(side).output,
      node.sweepCondition.endpoints(side),
      new RangeRouter(side, node.sweeps, ranges),
      ranges.count,
      node.longMetric(SweepMetrics.ReplicatedRows),
      node.metrics)
    val sorter = new PartitionSorter(
      order(node, LeftSide),
      order(node, RightSide),
      node.longMetric(SweepMetrics.SortTime))
    new SweepExecution(
      node,
      TwoInputs.zip(shuffled(LeftSide), shuffled(RightSide)),
      new SortedTasks(settings, Some(sorter), Some(ranges)))
  }

  private def sampleRanges(
      node: IntervalSweepJoinExec,
      rows: Map[Side, RDD[InternalRow]]): Ranges = {
    val side = node.sweeps.head.points
    val point = Seq(node.sweepCondition.endpoints(side)(node.sweeps.head.lead.point))
    val input = node.input(side).output
    val points = rows(side).mapPartitions { partition =>
      val endpointOf = EndpointReader.of(point, input)
      partition.map(endpointOf).filterNot(_.anyNull).map(_.getLong(0))
    }
    val rangeRows = node.conf.getConf(IntervalSweepConf.RangeRows)
    val least = node.session.sparkContext.defaultParallelism
    Ranges.sample(
      points,
      math.max(least, node.conf.numShufflePartitions),
      n => math.max(least.toLong, math.min(n / rangeRows + 1, Int.MaxValue)).toInt)
  }

  private def order(node: IntervalSweepJoinExec, side: Side): RowSorter =
    RowSorter(node.input(side).schema, bound(node, side))

  private def bound(node: IntervalSweepJoinExec, side: Side): SortOrder = {
    val endpoint: Expression = node.sortEndpoint(side)
    SortOrder(BindReferences.bindReference(endpoint, node.input(side).output), Ascending)
  }
}

/** Makes the join of one task; sent to the executors. */
trait SweepTasks extends Serializable {

  /** @param input a partition of [[SweepExecution.input]] */
  def open(input: Iterator[InternalRow]): SweepTask
}

/** What generated code refers to. */
final class GeneratedTasks extends SweepTasks {
  var tasks: SweepTasks = _
  override def open(input: Iterator[InternalRow]): SweepTask = tasks.open(input)
}

/** What every task of a join needs to know; made on the driver. */
case class TaskSettings(
    layouts: Map[Side, BlockLayout],
    keys: Map[Side, Seq[Expression]],
    boxesLeft: Array[Boolean],
    pointSides: Set[Side],
    leadPoints: Side,
    worker: Map[Side, WorkerSettings],
    batchRows: Int,
    metrics: Map[String, SQLMetric]) {

  /** Points are searched, so larger windows of them pay; boxes only pass by. */
  def windowSize(stream: Side): WindowSize = WindowSize(
    residentRows = TaskSettings.ResidentBatches * batchRows,
    streamRows = if (pointSides(stream)) TaskSettings.PointBatches * batchRows else batchRows)

  def sortTimer: SortTimer = new SortTimer(metrics(SweepMetrics.SortTime))

  def block(side: Side, memory: BlockMemory): RowBlock = {
    val block = new RowBlock(layouts(side), memory)
    if (keys(side).isEmpty) block else block.grouped()
  }

  def task(
      windows: Windows,
      resident: Side,
      range: Option[(Long, Long)],
      context: TaskContext): SweepTask = {
    val start = () => new SweepWorker(worker(resident), range, context)
    val task = new SweepTask(windows, resident == LeftSide, boxesLeft, start, metrics)
    context.addTaskCompletionListener[Unit](_ => task.publish())
    task
  }

  /** The memory of a task's blocks; given back when the task ends. */
  def memory(context: TaskContext): BlockMemory = {
    val memory = new BlockMemory(context.taskMemoryManager())
    context.addTaskCompletionListener[Unit](_ => memory.releaseAll())
    memory
  }
}

object TaskSettings {
  private val ResidentBatches = 4
  private val PointBatches = 16

  def apply(node: IntervalSweepJoinExec): TaskSettings = {
    val sides = Seq[Side](LeftSide, RightSide)
    val condition = node.sweepCondition
    TaskSettings(
      layouts = sides.map(side =>
        side -> BlockLayout(
          node.input(side).output,
          node.payload(side),
          condition.endpoints(side),
          condition.sortSlot(side))).toMap,
      keys = sides.map(side => side -> condition.keys(side)).toMap,
      boxesLeft = node.sweeps.map(_.boxes == LeftSide).toArray,
      pointSides = node.sweeps.map(_.points).toSet,
      leadPoints = node.sweeps.head.points,
      worker = sides.map(side => side -> WorkerSetup(node, side)).toMap,
      batchRows = node.conf.getConf(IntervalSweepConf.BatchRows),
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
      settings.sortTimer)
    val windows = new BroadcastWindows(
      index,
      input,
      settings.block(streamed, settings.memory(context)),
      groupOf(index, streamed),
      settings.windowSize(streamed),
      sortStream = settings.pointSides(streamed),
      settings.sortTimer,
      token = join)
    settings.task(windows, resident = side, range = None, context)
  }

  private def groupOf(index: BroadcastIndex, streamed: Side): Option[InternalRow => Int] =
    Option.when(settings.keys(streamed).nonEmpty) {
      val keyOf =
        BroadcastIndex.keyProjection(settings.keys(streamed), settings.layouts(streamed).input)
      row => keyOf(row).fold(BroadcastIndex.NoGroup)(index.group)
    }
}

/**
 * Tasks that read two inputs, sorted or to be sorted first.
 *
 * @param ranges the ranges that the partitions stand for, if they do
 */
final class SortedTasks(
    settings: TaskSettings,
    sort: Option[PartitionSorter],
    ranges: Option[Ranges])
    extends SweepTasks {

  override def open(input: Iterator[InternalRow]): SweepTask = {
    val context = TaskContext.get()
    val inputs = input.asInstanceOf[TwoInputs]
    val rows = sort.fold(inputs)(_.sort(inputs))
    val memory = settings.memory(context)
    val resident = settings.leadPoints
    def sorted(side: Side): SortedInput = new SortedInput(
      if (side == LeftSide) rows.left else rows.right,
      settings.keys(side),
      settings.layouts(side).input)
    val windows = new SortedWindows(
      sorted(resident),
      sorted(resident.other),
      settings.block(resident, memory),
      settings.block(resident.other, memory),
      settings.windowSize(resident.other))
    settings.task(windows, resident, ranges.map(_.limits(rows.partition)), context)
  }
}
