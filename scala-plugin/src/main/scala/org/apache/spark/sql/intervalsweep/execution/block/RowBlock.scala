// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.{BitSet => JBitSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.index.{MinMaxIndex, SortedPoints}

/**
 * Rows of one side in memory, by column, in the order in which the worker sees them. The points of
 * a run are consecutive rows of a block: `count` rows from `first` on.
 *
 * A block is filled ([[RowAppender]]), sorted, read, and cleared for the next chunk. The next chunk
 * reuses its arrays ([[RowArrays]]).
 *
 * @param memory accounts for the block's memory
 */
final class RowBlock(val layout: BlockLayout, memory: BlockMemory) extends SortedPoints {
  private val arrays = new RowArrays(layout)
  private val appender = new RowAppender(layout, arrays, memory)
  private val failures = appender.failures

  /** True if other tasks of the executor wait for the block. */
  private val isShared = memory.isShared

  /** Computed when they are needed; null until then. */
  private var offsets: Array[Int] = _
  private var knownTables: BlockTables = _

  /** The order that the last sort gave the rows; null if they were in order. */
  private var order: Array[Int] = _

  val columns: Array[BlockColumn] = arrays.columns
  override val endpoints: Array[Array[Long]] = arrays.endpoints

  /** Group numbers of the rows; null if the join has no equality keys. */
  def groups: Array[Int] = arrays.groups

  override def numRows: Int = arrays.numRows

  /** The number of ranges that each row is in; null if it is unknown, or the same for all rows. */
  def copies: Array[Int] =
    if (layout.copies.isEmpty) null else columns.last.asInstanceOf[IntColumn].values

  /** The rows that have a match. Filled only if the join needs to know them. */
  val matched: JBitSet = new JBitSet

  /** A block is searched in the task only if it is small. */
  override def minMax(endpoint: Int): MinMaxIndex = null

  // Filling

  /** Gives the rows group numbers. Call it before the first row is added. */
  def grouped(): this.type = {
    arrays.groups = new Array[Int](arrays.capacity)
    this
  }

  /** Makes room for the first rows. */
  def reserve(): Unit = appender.reserve()

  /**
   * True if memory for another row was refused. Call it before `append`, which would fail then.
   */
  def isFull: Boolean = appender.isFull

  /**
   * Adds a row, unless one of its endpoints is NULL: such a row matches nothing.
   *
   * @param group the number of the row's key group; -1 if the join has no keys
   * @return true if the row was added
   */
  def append(row: InternalRow, group: Int): Boolean = {
    rowsChanged()
    appender.append(row, group)
  }

  /** Adds rows to a block without groups. Rows with a NULL endpoint are left out. */
  def appendAll(rows: Iterator[InternalRow]): Unit = {
    rowsChanged()
    appender.appendAll(rows)
  }

  /**
   * Adds the next rows, up to `most`, if they come in a batch and need no look at each row. Rows
   * without a group are left out.
   *
   * @param groupOf the key groups; null if the join has no keys
   * @return the number of rows taken from the input; 0 if the next row must be taken by itself
   */
  def appendBatch(input: Iterator[InternalRow], most: Int, groupOf: GroupReader): Int = {
    rowsChanged()
    appender.appendBatch(input, most, groupOf)
  }

  /**
   * Moves the rows of `blocks` into this block, without their group numbers. The blocks have the
   * same layout and the same memory, and are not needed afterwards. Only for a shared block.
   */
  def fill(blocks: Seq[RowBlock]): Unit = {
    rowsChanged()
    appender.fill(blocks.map(_.appender))
  }

  /** Removes the rows, and keeps the memory of values of a fixed size. */
  def clear(): Unit = {
    rowsChanged()
    appender.clear()
    order = null
    matched.clear()
  }

  /** Drops what was computed from the rows. */
  private def rowsChanged(): Unit = {
    offsets = null
    knownTables = null
  }

  // Sorting

  /** Sorts the rows by (group, sort endpoint). */
  def sort(): Unit = {
    rowsChanged()
    val ties = layout.tieEndpoint.map(endpoints(_)).orNull
    val coordinate = endpoints(layout.sortEndpoint)
    val byEndpoint = EndpointOrder.of(groups, coordinate, numRows, isShared, ties)
    val sorted =
      if (layout.ties.isEmpty) byEndpoint
      else new TieOrder(layout, columns, groups, coordinate, numRows).of(byEndpoint)
    sorted.foreach(arrays.permute(_, isShared))
    order = sorted.orNull
    // Computed now, and not by each task: a task might read what another has not finished writing.
    if (isShared) groupOffsets
  }

  /** The position at which the row that is now at `i` was added. */
  def positionBeforeSort(i: Int): Int = if (order == null) i else order(i)

  // Reading

  /**
   * Group `g` is the rows `groupOffsets(g)` to `groupOffsets(g + 1) - 1`. Without keys all rows are
   * group 0. The rows must be sorted.
   */
  def groupOffsets: Array[Int] = {
    if (offsets == null) offsets = RowBlock.offsets(groups, numRows)
    offsets
  }

  /**
   * Tables for aggregates of runs. The rows must be sorted. Tasks that share the block share the
   * tables.
   */
  def tables: BlockTables = synchronized {
    if (knownTables == null) knownTables = new BlockTables(columns, numRows)
    knownTables
  }

  /** Reserves memory for the tables and for other per-row results, until [[clear]]. */
  def reserveTables(bytesPerRow: Int): Boolean = synchronized {
    appender.account.reserveTables(numRows.toLong * bytesPerRow)
  }

  /** True if [[raiseFailure]] must be called. */
  def hasFailures: Boolean = failures.error.isDefined

  /** Raises the error of a check that failed for one of the rows [first, first + count). */
  def raiseFailure(first: Int, count: Int): Unit = failures.error.foreach { error =>
    if ((first until first + count).exists(i => failures.has(positionBeforeSort(i)))) throw error
  }
}

private object RowBlock {

  private def offsets(groups: Array[Int], rows: Int): Array[Int] =
    if (groups == null || rows == 0) Array(0, rows)
    else {
      val found = new Array[Int](groups(rows - 1) + 2)
      var i = 0
      while (i < rows) { found(groups(i) + 1) = i + 1; i += 1 }
      // A group without rows ends where the previous group ends.
      var g = 1
      while (g < found.length) { found(g) = math.max(found(g), found(g - 1)); g += 1 }
      found
    }
}
