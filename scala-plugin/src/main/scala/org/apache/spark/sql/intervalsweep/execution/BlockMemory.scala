// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.SparkException
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/**
 * The memory of a task's blocks, taken from Spark's task memory manager, so that it counts beside
 * the task's sorts and Spark can spill those first. The blocks themselves are plain arrays.
 */
final class BlockMemory(manager: TaskMemoryManager)
    extends MemoryConsumer(manager, manager.pageSizeBytes, MemoryMode.ON_HEAP) {

  /** The most bytes taken at a time. */
  var peak = 0L

  /** Takes `bytes`, all or none; says whether it was possible. */
  def tryReserve(bytes: Long): Boolean = {
    val granted = acquireMemory(bytes)
    if (granted < bytes) freeMemory(granted)
    peak = math.max(peak, getUsed)
    granted >= bytes
  }

  /** Takes `bytes`, or fails the task in words. */
  def reserve(bytes: Long): Unit =
    if (!tryReserve(bytes)) throw new SparkException(
      s"IntervalSweepJoin: a task holds ${getUsed >> 20} MiB of rows that may still match and " +
        s"was refused ${bytes >> 10} KiB more. Give the executors more memory " +
        "(spark.executor.memory, or spark.driver.memory in local mode), run fewer tasks at " +
        "once (spark.executor.cores), or make the tasks smaller " +
        "(spark.sql.shuffle.partitions, spark.sql.intervalsweep.rangeRows).",
      null)

  def release(bytes: Long): Unit = freeMemory(bytes)

  def releaseAll(): Unit = freeMemory(getUsed)

  /** The rows of a window are all needed until it ends. */
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
}
