// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide}
import org.apache.spark.sql.intervalsweep.execution.ranges.RangeExecution
import org.apache.spark.sql.intervalsweep.execution.task.{
  BroadcastTasks, PairReader, SortedTasks, SweepMode, SweepNode, SweepTasks, TaskInput,
  TaskSettings, TwoInputs
}

/** One execution of a [[SweepNode]]. */
final class SweepExecution(node: SweepNode, prepared: TaskInput) {
  def input: RDD[InternalRow] = prepared.rows
  def tasks: SweepTasks = prepared.tasks

  /** The join without generated code. */
  def interpreted(): RDD[InternalRow] = {
    val factory = tasks
    val reader = PairReader(
      node.payload(LeftSide),
      node.payload(RightSide),
      node.sweepCondition.residual,
      node.isSearched,
      node.existence,
      node.joinOutput,
      node.runs.getOrElse(Nil),
      node.partialRowId,
      node.output)
    input.mapPartitionsInternal(rows => reader.read(factory.open(rows)))
  }
}

object SweepExecution {

  def apply(node: SweepNode): SweepExecution = new SweepExecution(node, prepared(node))

  /** Runs the jobs that must precede the join itself: broadcasts and samples. */
  private def prepared(node: SweepNode): TaskInput = node.mode match {
    case SweepMode.Broadcast(side) =>
      val rows = node.input(side).executeBroadcast[Array[InternalRow]]()
      val tasks = new BroadcastTasks(TaskSettings(node), side, rows, UUID.randomUUID().toString)
      TaskInput(node.input(side.other).execute(), tasks)
    case SweepMode.ByKeys | SweepMode.BySplitKeys =>
      val input = TwoInputs.zip(node.input(LeftSide).execute(), node.input(RightSide).execute())
      val tasks = new SortedTasks(TaskSettings(node), rangeOf = _ => None)
      TaskInput(input, tasks)
    case SweepMode.ByRanges => RangeExecution(node)
  }
}
