// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.execution.metric.SQLMetric

/** Accounts for the memory of blocks. The blocks themselves are plain arrays. */
trait BlockMemory {

  /** True if other tasks of the executor wait for the blocks, and then use them. */
  def isShared: Boolean

  /** Reserves all of `bytes` or nothing. Returns true if it reserved them. */
  def tryReserve(bytes: Long): Boolean

  /** Reserves `bytes`, or fails the task with an error that says what to change. */
  def reserve(bytes: Long): Unit

  def release(bytes: Long): Unit
}

/**
 * The memory of a task's blocks. It is reserved from Spark's task memory manager, so it counts
 * together with the task's sorts, and Spark can spill those first.
 */
final class TaskMemory(manager: TaskMemoryManager)
    extends MemoryConsumer(manager, manager.pageSizeBytes, MemoryMode.ON_HEAP) with BlockMemory {
  override def isShared: Boolean = false

  /** The most bytes that were reserved at a time. */
  var peak = 0L

  override def tryReserve(bytes: Long): Boolean = {
    val granted = acquireMemory(bytes)
    if (granted < bytes) freeMemory(granted)
    peak = math.max(peak, getUsed)
    granted >= bytes
  }

  override def reserve(bytes: Long): Unit =
    if (!tryReserve(bytes)) throw new SparkException(
      s"IntervalSweepJoin: a task holds ${getUsed >> 20} MiB of rows that may still match and " +
        s"was refused ${bytes >> 10} KiB more. Give the executors more memory " +
        "(spark.executor.memory, or spark.driver.memory in local mode), run fewer tasks at " +
        "once (spark.executor.cores), or make the tasks smaller " +
        "(spark.sql.shuffle.partitions, spark.sql.intervalsweep.rangeRows).",
      null)

  override def release(bytes: Long): Unit = freeMemory(bytes)

  def releaseAll(): Unit = freeMemory(getUsed)

  /** Spills nothing: all rows of a chunk are needed until it ends. */
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
}

object TaskMemory {

  /** The memory of the blocks of a task. It is released when the task ends. */
  def of(context: TaskContext, peak: Option[SQLMetric] = None): TaskMemory = {
    val memory = new TaskMemory(context.taskMemoryManager())
    context.addTaskCompletionListener[Unit] { _ =>
      peak.foreach(_.add(memory.peak))
      memory.releaseAll()
    }
    memory
  }
}
