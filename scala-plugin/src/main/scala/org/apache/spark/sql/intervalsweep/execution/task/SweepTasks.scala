// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.GroupReader
import org.apache.spark.sql.intervalsweep.execution.chunks.{
  BroadcastChunks, BroadcastIndex, SortedChunks, SortedInput
}
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics

/** Creates the join of one task; sent to the executors. */
trait SweepTasks extends Serializable {

  /** @param input a partition of [[TaskInput.rows]] */
  def open(input: Iterator[InternalRow]): SweepTask
}

/**
 * The input and the tasks of an execution, which the driver has prepared.
 *
 * @param rows the input, partition by partition: the rows of the side that is not broadcast, or
 *   [[TwoInputs]], or rows that are decided already
 * @param tasks creates the join of a task from such a partition
 */
final case class TaskInput(rows: RDD[InternalRow], tasks: SweepTasks)

/** Tasks that read one input and get the other by broadcast. */
final class BroadcastTasks(
    settings: TaskSettings,
    side: Side,
    rows: Broadcast[Array[InternalRow]],
    join: String)
    extends SweepTasks {

  override def open(input: Iterator[InternalRow]): SweepTask = {
    val context = TaskContext.get()
    val probeSide = side.other
    val index = BroadcastIndex.of(
      rows.value,
      join,
      settings.layouts(side),
      settings.keys(side),
      settings.sortTimer,
      context)
    val memory = settings.memory(context)
    val leftovers = settings.leftovers(memory)
    val chunks = new BroadcastChunks(
      index,
      probeSide,
      input,
      settings.block(probeSide, memory),
      leftovers,
      groupOf(index, probeSide, leftovers.isKept(probeSide)),
      settings.chunkSize(probeSide),
      sortProbe = settings.pointSides(probeSide),
      settings.sortTimer,
      token = join)
    settings.task(chunks, build = side, range = None, context)
  }

  /** The key groups of the probe side's rows; null if the join has no keys. */
  private def groupOf(index: BroadcastIndex, probeSide: Side, isKept: Boolean): GroupReader = {
    val keys = settings.keys(probeSide)
    if (keys.isEmpty) null
    else new GroupReader(index.groups, keys, settings.layouts(probeSide).input, isKept)
  }
}

/**
 * Tasks that read two inputs, which are sorted by their keys if there are any.
 *
 * @param rangeOf the first and the last point of a partition's range, if partitions are ranges
 */
final class SortedTasks(settings: TaskSettings, rangeOf: Int => Option[(Long, Long)])
    extends SweepTasks {

  override def open(input: Iterator[InternalRow]): SweepTask = {
    val context = TaskContext.get()
    val inputs = input.asInstanceOf[TwoInputs]
    val memory = settings.memory(context)
    val build = settings.leadPoints
    def sorted(side: Side): SortedInput = new SortedInput(
      side,
      if (side == LeftSide) inputs.left else inputs.right,
      settings.keys(side),
      settings.layouts(side).input)
    val chunks = new SortedChunks(
      sorted(build),
      sorted(build.other),
      settings.block(build, memory),
      settings.block(build.other, memory),
      settings.leftovers(memory),
      settings.chunkSize(build.other),
      sortProbe = settings.pointSides(build.other),
      settings.sortTimer,
      settings.metrics(SweepMetrics.SpillSize))
    settings.task(chunks, build, rangeOf(inputs.partition), context)
  }
}
