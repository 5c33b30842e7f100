// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockLayout, RowBlock}
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.task.{
  PairReader, SortedTasks, SweepNode, SweepTask, SweepTasks, TaskInput, TaskSettings, TwoInputs
}

/**
 * The execution of a join by ranges. It samples the points and sends both sides to their ranges. If
 * the join emits unpaired rows, it also asks all ranges about the rows that are in several of them
 * ([[ReplicatedRows]]).
 */
object RangeExecution {

  /** The most additional ranges that a box goes to, on average, if that leaves enough tasks. */
  private val MostCopies = 2.0

  def apply(node: SweepNode): TaskInput = {
    val rows = Map[Side, RDD[InternalRow]](
      LeftSide -> node.input(LeftSide).execute(),
      RightSide -> node.input(RightSide).execute())
    val prepared = new PreparedRanges(node, rows, sampleRanges(node, rows))
    TaskInput(prepared.input, prepared.tasks)
  }

  private def sampleRanges(
      node: SweepNode,
      rows: Map[Side, RDD[InternalRow]]): Ranges = {
    val least = node.session.sparkContext.defaultParallelism
    val most = math.max(least, node.conf.numShufflePartitions)
    val sample = RangeSample.of(node, rows, most)
    val wanted = sample.points.total / node.conf.getConf(IntervalSweepConf.RangeRows) + 1
    // The longer the boxes, the fewer ranges: a box is copied to each range that it overlaps.
    val share = node.sweepCondition.sweeps.map(sample.meanShare).max
    val bearable = if (share == 0 || node.limit.isDefined) Double.MaxValue else MostCopies / share
    // A row that is box in one sweep and point in another would be in several partitions, and could
    // meet the same partner in each.
    val mayDeal = node.sweepCondition.sweeps.map(_.boxes).distinct.size == 1
    val count = math.max(least.toDouble, Seq(wanted.toDouble, most, bearable).min).toInt
    node.limit.fold(sample.points.ranges(count, mayDeal)) { limit =>
      sample.points.ranges(math.min(count, CarriedPoints.mostRanges(limit)), mayDeal = false)
    }
  }
}

/** A join whose ranges are known. */
private final class PreparedRanges(
    node: SweepNode,
    rows: Map[Side, RDD[InternalRow]],
    ranges: Ranges) {
  private val sides = Side.all
  private val output = node.joinOutput
  private val matched: Attribute = ReplicatedRows.matched()

  private val rangeSides: Map[Side, RangeSide] = sides.map { side =>
    side -> RangeSide(
      node.input(side).output,
      node.sweepCondition.endpoints(side),
      new RangeRouter(side, node.sweepCondition.sweeps, ranges, node.limit),
      isKept = output.keepsUnmatched(side),
      added =
        if (output.isTracked(side) && node.limit.isEmpty) ReplicatedRows.columnsAdded() else Nil)
  }.toMap

  /** The points that boxes of other ranges may keep. */
  private def carried(side: Side): Option[CarriedPoints] =
    node.limit.filter(_ => side != LeftSide).map { limit =>
      CarriedPoints(limit, node.ties, node.sweepCondition.sweeps.head.lead.point)
    }

  /**
   * The rows of each side, by range. Both passes read them: Spark writes the files of a shuffle
   * once.
   */
  private val shuffled: Map[Side, RDD[InternalRow]] = sides.map { side =>
    val replicated = node.longMetric(SweepMetrics.ReplicatedRows)
    side -> RangeShuffle(
      rows(side),
      rangeSides(side),
      carried(side),
      ranges.count,
      replicated,
      node.metrics)
  }.toMap

  private val replicatedSides: Seq[Side] =
    if (ranges.count > 1 && node.limit.isEmpty) output.tracked else Nil

  val input: RDD[InternalRow] =
    replicatedSides.map(decided).foldLeft(inputs(shuffled))(_ union _)

  def tasks: SweepTasks = {
    val settings = TaskSettings(node, output, rangeLayout(_), node.runLayout)
    val decided =
      replicatedSides.map(side => side -> rangeLayout(side, decidedColumns(side))).toMap
    new RangeTasks(sortedTasks(settings), settings, decided)
  }

  private def sortedTasks(settings: TaskSettings): SortedTasks = {
    val all = ranges
    // With a limit, a box is in one range, where it may meet points of other ranges.
    val isClipped = node.limit.isEmpty
    new SortedTasks(settings, partition => Option.when(isClipped)(all.limits(partition)))
  }

  private def inputs(rows: Map[Side, RDD[InternalRow]]): RDD[InternalRow] =
    TwoInputs.zip(rows(LeftSide), rows(RightSide))

  private def rangeLayout(side: Side): BlockLayout = {
    val RangeSide(_, _, _, _, added) = rangeSides(side)
    TaskSettings.layout(node, side, rangeSides(side).columns).copy(copies = added.lastOption)
  }

  private def rangeLayout(side: Side, columns: Seq[Attribute]): BlockLayout =
    TaskSettings.layout(node, side, columns).withoutEndpoints

  /**
   * The columns of rows that are in several ranges. The last one tells whether the row has a match.
   */
  private def decidedColumns(side: Side): Seq[Attribute] =
    node.payload(side) :+ rangeSides(side).added.head :+ matched

  /** The rows of a side that are in several ranges, after all of these were asked. */
  private def decided(side: Side): RDD[InternalRow] = {
    val columns = decidedColumns(side)
    ReplicatedRows.decide(answers(side, columns), columns, ranges.count, node.metrics)
      .mapPartitionsInternal(new DecidedRows(side, _))
  }

  private def answers(side: Side, columns: Seq[Attribute]): RDD[InternalRow] = {
    val copiesAt = rangeSides(side).columns.size - 1
    val several = shuffled(side).mapPartitionsInternal(_.filter(_.getInt(copiesAt) > 1))
    val layouts = sides.map { s =>
      val layout = TaskSettings.layout(node, s, rangeSides(s).columns)
      s -> (if (s == side) layout.copy(payload = columns.init) else layout)
    }.toMap
    val outcomes = JoinOutput.outcomes(side)
    val settings = TaskSettings(node, outcomes, layouts, runs = None)
      .copy(metrics = SweepMetrics.withoutOutput(node.metrics, node.session.sparkContext))
    val tasks = sortedTasks(settings)
    val reader = PairReader(
      layouts(LeftSide).payload,
      layouts(RightSide).payload,
      node.sweepCondition.residual,
      isSearched = false,
      Some(matched),
      outcomes,
      runs = Nil,
      partialRowId = None,
      columns)
    inputs(shuffled.updated(side, several)).mapPartitionsInternal(rows =>
      reader.read(tasks.open(rows)))
  }
}

/**
 * Tasks of a join by ranges.
 *
 * @param decided the layouts of rows for which it is known whether they have a match
 */
final class RangeTasks(
    sorted: SortedTasks,
    settings: TaskSettings,
    decided: Map[Side, BlockLayout])
    extends SweepTasks {

  override def open(input: Iterator[InternalRow]): SweepTask = input match {
    case rows: DecidedRows => emitDecided(rows, TaskContext.get())
    case _ => sorted.open(input)
  }

  private def emitDecided(rows: DecidedRows, context: TaskContext): SweepTask = {
    val memory = settings.memory(context)
    val build = settings.leadPoints
    val chunks = new DecidedChunks(
      rows,
      settings.block(build, memory),
      settings.block(build.other, memory),
      new RowBlock(decided(rows.side), memory),
      settings.batchRows)
    settings.task(chunks, build, range = None, context)
  }
}
