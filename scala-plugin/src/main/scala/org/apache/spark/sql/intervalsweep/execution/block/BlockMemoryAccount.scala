// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

/**
 * The memory that one block has reserved: for its arrays, for values of variable length, and for
 * tables that are computed from its rows.
 */
private[block] final class BlockMemoryAccount(memory: BlockMemory, bytesPerRow: Long) {
  private var fixedBytes = 0L
  private var objectBytes = 0L
  private var pendingBytes = 0L
  private var tableBytes = 0L
  private var isRefused = false

  /** True if memory for values of variable length was refused. */
  def isShort: Boolean = isRefused

  /** Reserves memory for `more` rows in the arrays, or fails the task with an error. */
  def reserveRows(more: Int): Unit = {
    memory.reserve(bytesPerRow * more)
    fixedBytes += bytesPerRow * more
  }

  def tryReserveRows(more: Int): Boolean = {
    val isGranted = memory.tryReserve(bytesPerRow * more)
    if (isGranted) fixedBytes += bytesPerRow * more
    isGranted
  }

  /**
   * Reserves memory for values of variable length, in steps of a mebibyte. The size of a value is
   * taken from the size of its row. The row or the batch that needs another step is kept even if
   * that step is refused; [[isShort]] is true then.
   */
  def reserveObjects(bytes: Long): Unit = {
    pendingBytes += bytes
    if (pendingBytes >= BlockMemoryAccount.ObjectStep) {
      if (memory.tryReserve(pendingBytes)) objectBytes += pendingBytes else isRefused = true
      pendingBytes = 0
    }
  }

  /** Takes over the values of variable length of another block. */
  def takeObjects(other: BlockMemoryAccount): Unit = objectBytes += other.objectBytes

  /** Reserves memory for tables that are computed from the rows, once until [[clear]]. */
  def reserveTables(bytes: Long): Boolean = tableBytes > 0 || {
    val isGranted = memory.tryReserve(bytes)
    if (isGranted) tableBytes = bytes
    isGranted
  }

  /** Releases all but the memory of the arrays. */
  def clear(): Unit = {
    memory.release(objectBytes + tableBytes)
    objectBytes = 0
    pendingBytes = 0
    tableBytes = 0
    isRefused = false
  }

  /**
   * Releases the memory of the arrays. The values of variable length belong to another block now.
   */
  def leave(): Unit = {
    memory.release(fixedBytes)
    fixedBytes = 0
  }
}

private[block] object BlockMemoryAccount {
  val ObjectStep: Long = 1L << 20
}
