// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.internal.Logging
import org.apache.spark.memory.MemoryMode
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.storage.BroadcastBlockId

/**
 * The memory of a [[BroadcastIndex]]. While a task uses the index, it counts as part of Spark's
 * storage memory, like the broadcast that it is built from. Spark may evict cached blocks for it.
 * If Spark refuses the memory, the index is used nevertheless, just as Spark uses a broadcast that
 * it cannot store, and a warning is logged.
 */
final class BroadcastMemory extends BlockMemory with Logging {
  private val manager = SparkEnv.get.memoryManager
  private var bytes = 0L
  private var granted = 0L
  private var users = 0
  private var isRefused = false

  override def isShared: Boolean = true

  /**
   * Registers a task as a user of the index until the task ends. This includes memory that is
   * reserved later.
   */
  def usedBy(context: TaskContext): Unit = {
    synchronized {
      users += 1
      take()
    }
    context.addTaskCompletionListener[Unit](_ => leave())
  }

  private def leave(): Unit = synchronized {
    users -= 1
    if (users == 0) giveBack(granted)
  }

  override def tryReserve(more: Long): Boolean = synchronized {
    bytes += more
    take()
    true
  }

  override def reserve(more: Long): Unit = tryReserve(more)

  override def release(fewer: Long): Unit = synchronized {
    bytes -= fewer
    if (granted > bytes) giveBack(granted - bytes)
  }

  private def take(): Unit = if (granted < bytes) {
    if (manager.acquireStorageMemory(BroadcastMemory.name, bytes - granted, MemoryMode.ON_HEAP))
      granted = bytes
    else if (!isRefused) {
      isRefused = true
      logWarning(
        s"IntervalSweepJoin: the rows of a broadcast take ${bytes >> 20} MiB in this executor, for " +
          "which Spark has no memory left. If it fails for that, give executors more memory " +
          "(spark.executor.memory), or have smaller sides broadcast " +
          "(spark.sql.intervalsweep.broadcastFactor, spark.sql.autoBroadcastJoinThreshold).")
    }
  }

  private def giveBack(freed: Long): Unit = {
    manager.releaseStorageMemory(freed, MemoryMode.ON_HEAP)
    granted -= freed
  }
}

private object BroadcastMemory {

  /** The name in Spark's log. No block can be requested by this name. */
  private val name = BroadcastBlockId(-1L, "intervalsweep")
}
