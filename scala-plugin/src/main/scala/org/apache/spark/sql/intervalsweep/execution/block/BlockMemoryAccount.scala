// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

/**
 * The memory that one block has taken: for its arrays, for values of variable length, and for what
 * is computed of its rows.
 */
private[block] final class BlockMemoryAccount(memory: BlockMemory, bytesPerRow: Long) {
  private var fixedBytes = 0L
  private var objectBytes = 0L
  private var pendingBytes = 0L
  private var tableBytes = 0L
  private var isRefused = false

  /** Whether memory for values of variable length was refused. */
  def isShort: Boolean = isRefused

  /** Takes memory for the arrays of so many more rows, or fails the task in words. */
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
   * Variable-length values are accounted by the size of the rows that they came in, in steps of a
   * mebibyte. The row that needs another step is kept even if that is refused, or the rows of a batch.
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

  /** Takes memory for what is computed of the rows, once until [[clear]]. */
  def reserveTables(bytes: Long): Boolean = tableBytes > 0 || {
    val isGranted = memory.tryReserve(bytes)
    if (isGranted) tableBytes = bytes
    isGranted
  }

  /** Gives back all but the memory of the arrays. */
  def clear(): Unit = {
    memory.release(objectBytes + tableBytes)
    objectBytes = 0
    pendingBytes = 0
    tableBytes = 0
    isRefused = false
  }

  /** Gives the memory of the arrays back; the values of variable length are another block's now. */
  def leave(): Unit = {
    memory.release(fixedBytes)
    fixedBytes = 0
  }
}

private[block] object BlockMemoryAccount {
  val ObjectStep: Long = 1L << 20
}
