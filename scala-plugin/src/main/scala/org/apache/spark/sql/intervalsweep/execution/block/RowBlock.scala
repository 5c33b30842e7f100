// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.{BitSet => JBitSet}
import java.util.stream.IntStream

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.execution.index.{MinMaxIndex, SortedPoints}
import org.apache.spark.sql.intervalsweep.execution.packing.{
  BatchRow, BatchedRows, Permutation, RowBatch
}

/**
 * Rows of one side in memory, by column, in the order in which the worker sees them. The points of
 * a run are consecutive rows of a block: `count` rows from `first` on. A block is filled, sorted,
 * read, and cleared for the next chunk.
 *
 * @param memory accounts for the block's memory
 */
final class RowBlock(val layout: BlockLayout, memory: BlockMemory) extends SortedPoints {
  private val endpointOf = new EndpointReader(layout.endpoints, layout.input)
  private val failures: RowFailures =
    if (layout.checks.isEmpty) null else new RowFailures(layout.checks, layout.input)

  val columns: Array[BlockColumn] = layout.columnTypes.map(BlockColumn(_)).toArray
  override val endpoints: Array[Array[Long]] =
    Array.fill(layout.endpoints.size)(Array.emptyLongArray)

  /** The rows that have a match. Filled only if the join needs to know them. */
  val matched: JBitSet = new JBitSet

  /** The number of ranges that each row is in; null if it is unknown, or the same for all rows. */
  def copies: Array[Int] =
    if (layout.copies.isEmpty) null else columns.last.asInstanceOf[IntColumn].values

  /** Group numbers of the rows; null if the join has no equality keys. */
  var groups: Array[Int] = _
  private var rows = 0
  private var capacity = 0
  private var offsets: Array[Int] = _
  private var knownTables: BlockTables = _
  private var order: Array[Int] = _

  /** True if other tasks of the executor wait for the block. */
  private val isShared = memory.isShared
  private val hasObjects = columns.exists(_.isInstanceOf[ObjectColumn])
  private val use = new BlockMemoryAccount(
    memory,
    4L + 8 * endpoints.length + columns.map(_.bytesPerRow).sum + RowBlock.SortBytes)

  /**
   * True if all fields that the block keeps are plain columns, and no check is evaluated per row.
   * The block can then take whole batches.
   */
  private val takesBatches: Boolean =
    failures == null && layout.columnTypes.forall(RowBatch.takes) && endpointOf.columns.isDefined

  override def numRows: Int = rows

  /** A block is searched in the task only if it is small. */
  override def minMax(endpoint: Int): MinMaxIndex = null

  /**
   * Adds a row, unless one of its endpoints is NULL: such a row matches nothing.
   *
   * @param group the number of the row's key group; -1 if the join has no keys
   * @return true if the row was added
   */
  def append(row: InternalRow, group: Int): Boolean = endpointOf.read(row) && {
    if (rows == capacity) grow()
    var k = 0
    while (k < endpoints.length) { endpoints(k)(rows) = endpointOf(k); k += 1 }
    k = 0
    while (k < columns.length) { columns(k).set(rows, row, layout.ordinals(k)); k += 1 }
    if (group >= 0) groups(rows) = group
    if (hasObjects) use.reserveObjects(RowBlock.bytesOf(row))
    if (failures != null) failures.check(row, rows)
    rows += 1
    offsets = null
    knownTables = null
    true
  }

  /** Adds rows to a block without groups. Rows with a NULL endpoint are left out. */
  def appendAll(rows: Iterator[InternalRow]): Unit =
    while (rows.hasNext) {
      val taken = appendBatch(rows, Int.MaxValue, groupOf = null)
      if (taken == 0) append(rows.next(), KeyGroups.NoGroup)
    }

  /**
   * Adds the next rows, up to `most`, if they come in a batch and need no look at each row. Rows
   * without a group are left out.
   *
   * @param groupOf the key groups; null if the join has no keys
   * @return the number of rows taken from the input; 0 if the next row must be taken by itself
   */
  def appendBatch(input: Iterator[InternalRow], most: Int, groupOf: GroupReader): Int =
    input match {
      case batches: BatchedRows if takesBatches && isWhole(batches.batch, groupOf) =>
        if (rows == capacity) grow()
        val first = batches.position
        val n =
          Seq(most, capacity - rows, batches.batch.rowsOf(BlockMemoryAccount.ObjectStep, first)).min
        if (groupOf == null) append(batches.batch, first, n)
        else append(batches.batch, first, groupOf.of(batches.batch, first, n))
        batches.skip(n)
        n
      case _ => 0
    }

  /** True if no endpoint and no key in the batch is NULL. */
  private def isWhole(batch: RowBatch, groupOf: GroupReader): Boolean =
    batch != null && (groupOf == null || groupOf.takes(batch)) &&
      endpointOf.columns.get.forall(c => batch.nulls(c.ordinal) == null)

  /**
   * Adds those rows of a batch, from `first` on, that have a group. `numbers` are their groups.
   */
  private def append(batch: RowBatch, first: Int, numbers: Array[Int]): Unit = {
    val taken = new Array[Int](numbers.length)
    var n = 0
    var i = 0
    while (i < numbers.length) {
      if (numbers(i) != KeyGroups.NoGroup) {
        groups(rows + n) = numbers(i)
        taken(n) = first + i
        n += 1
      }
      i += 1
    }
    if (n == numbers.length) append(batch, first, n)
    else append(batch.select(taken.take(n)), 0, n)
  }

  private def append(batch: RowBatch, first: Int, n: Int): Unit = {
    endpoints.indices.foreach { k =>
      val column = endpointOf.columns.get(k)
      column.read(batch.words(column.ordinal), first, n, endpoints(k), rows)
    }
    columns.indices.foreach { k =>
      columns(k).setAll(rows, batch, layout.ordinals(k), first, n)
    }
    if (hasObjects) (first until first + n).foreach(i => use.reserveObjects(batch.textBytes(i)))
    rows += n
    offsets = null
    knownTables = null
  }

  /**
   * Moves the rows of `blocks` into this block, without their group numbers. The blocks have the
   * same layout and the same memory, and are not needed afterwards. Only for a shared block.
   */
  def fill(blocks: Seq[RowBlock]): Unit = {
    val total = blocks.map(_.numRows.toLong).sum
    if (total > RowBlock.MaxRows) throw RowBlock.tooMany
    use.reserveRows(total.toInt)
    resize(total.toInt)
    blocks.foreach(addAll)
    blocks.foreach(_.use.leave())
  }

  private def addAll(other: RowBlock): Unit = {
    endpoints.indices.foreach { k =>
      System.arraycopy(other.endpoints(k), 0, endpoints(k), rows, other.numRows)
    }
    columns.indices.foreach(k => columns(k).copyAll(rows, other.columns(k), other.numRows))
    use.takeObjects(other.use)
    if (failures != null) failures.addAll(rows, other.failures)
    rows += other.numRows
    offsets = null
    knownTables = null
  }

  /** Sorts the rows by (group, sort endpoint). */
  def sort(): Unit = {
    offsets = null
    knownTables = null
    val ties = layout.tieEndpoint.map(endpoints(_)).orNull
    val sorted = EndpointOrder.of(groups, endpoints(layout.sortEndpoint), rows, isShared, ties)
    order = sorted.orNull
    sorted.foreach { order =>
      val all = IntStream.range(0, endpoints.length + columns.length)
      (if (isShared) all.parallel() else all).forEach { k =>
        if (k >= endpoints.length) columns(k - endpoints.length).permute(order, rows)
        else endpoints(k) = Permutation.permuted(endpoints(k), order, rows)
      }
      if (groups != null) groups = Permutation.permuted(groups, order, rows)
    }
    // Computed now, and not by each task: a task might read what another has not finished writing.
    if (isShared) groupOffsets
  }

  /** The position at which the row that is now at `i` was added. */
  def positionBeforeSort(i: Int): Int = if (order == null) i else order(i)

  /**
   * True if memory for another row was refused. Call it before `append`, which would fail then.
   */
  def isFull: Boolean = use.isShort || rows == capacity && !tryGrow()

  /** Makes room for the first rows. */
  def reserve(): Unit = if (capacity == 0) grow()

  /** Removes the rows, and keeps the memory of values of a fixed size. */
  def clear(): Unit = {
    columns.foreach(_.clear(rows))
    use.clear()
    rows = 0
    offsets = null
    knownTables = null
    order = null
    matched.clear()
    if (failures != null) failures.clear()
  }

  /** True if [[raiseFailure]] must be called. */
  def hasFailures: Boolean = failures != null && failures.error.isDefined

  /** Raises the error of a check that failed for one of the rows [first, first + count). */
  def raiseFailure(first: Int, count: Int): Unit = failures.error.foreach { error =>
    if ((first until first + count).exists(i => failures.has(positionBeforeSort(i)))) throw error
  }

  /**
   * Group `g` is the rows `groupOffsets(g)` to `groupOffsets(g + 1) - 1`. Without keys all rows are
   * group 0. The rows must be sorted.
   */
  def groupOffsets: Array[Int] = {
    if (offsets == null) offsets = RowBlock.offsets(groups, rows)
    offsets
  }

  /**
   * Tables for aggregates of runs. The rows must be sorted. Tasks that share the block share the
   * tables.
   */
  def tables: BlockTables = synchronized {
    if (knownTables == null) knownTables = new BlockTables(columns, rows)
    knownTables
  }

  /** Reserves memory for the tables and for other per-row results, until [[clear]]. */
  def reserveTables(bytesPerRow: Int): Boolean = synchronized {
    use.reserveTables(rows.toLong * bytesPerRow)
  }

  /** Gives the rows group numbers. Call it before the first row is added. */
  def grouped(): this.type = {
    groups = new Array[Int](capacity)
    this
  }

  private def grow(): Unit = {
    if (isLargest) throw RowBlock.tooMany
    use.reserveRows(nextCapacity - capacity)
    resize(nextCapacity)
  }

  private def tryGrow(): Boolean = !isLargest && use.tryReserveRows(nextCapacity - capacity) && {
    resize(nextCapacity)
    true
  }

  private def isLargest: Boolean = capacity > RowBlock.MaxRows / 2
  private def nextCapacity: Int = if (capacity == 0) RowBlock.FirstCapacity else 2 * capacity

  private def resize(larger: Int): Unit = {
    endpoints.indices.foreach(k => endpoints(k) = java.util.Arrays.copyOf(endpoints(k), larger))
    columns.foreach(_.grow(larger))
    if (groups != null) groups = java.util.Arrays.copyOf(groups, larger)
    capacity = larger
  }
}

object RowBlock {
  val FirstCapacity: Int = 1024

  /** The bytes per row that a sort needs temporarily. */
  private val SortBytes = 40

  /** A sort needs four array elements per row, and an array has fewer than 2^31 elements. */
  val MaxRows: Int = 1 << 28

  /** The bytes of a row's values of variable length, or more. */
  private def bytesOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes
    case batched: BatchRow => batched.textBytes
    case _ => 0
  }

  private def tooMany: SparkException =
    SparkException.internalError(s"IntervalSweepJoin: a chunk of more than $MaxRows rows")

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
