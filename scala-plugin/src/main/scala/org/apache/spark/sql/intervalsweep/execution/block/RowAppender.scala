// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.execution.packing.{BatchRow, BatchedRows, RowBatch}

/**
 * Fills the arrays of a block with rows, and reserves memory for them.
 *
 *   - Invariant: no endpoint in the arrays is NULL. A row with a NULL endpoint matches nothing, and
 *     is not added.
 *   - Cost: O(1) per row on average, as the capacity doubles whenever the arrays are full.
 */
private[block] final class RowAppender(
    layout: BlockLayout,
    private val arrays: RowArrays,
    memory: BlockMemory) {
  private val endpointOf = new EndpointReader(layout.endpoints, layout.input)
  private val hasObjects = arrays.columns.exists(_.isInstanceOf[ObjectColumn])

  /**
   * The endpoints as fields of a batch. None if rows must be added one by one: a field is computed,
   * or a check is evaluated per row.
   */
  private val batchEndpoints: Option[Array[EndpointColumn]] = endpointOf.columns.filter { _ =>
    layout.checks.isEmpty && layout.columnTypes.forall(RowBatch.takes)
  }

  val account = new BlockMemoryAccount(memory, arrays.bytesPerRow + RowAppender.SortBytes)
  val failures = new RowFailures(layout.checks, layout.input)

  /** See [[RowBlock.append]]. */
  def append(row: InternalRow, group: Int): Boolean = endpointOf.read(row) && {
    if (isAtCapacity) grow()
    if (hasObjects) account.reserveObjects(RowAppender.bytesOf(row))
    failures.check(row, arrays.numRows)
    arrays.add(row, endpointOf, group)
    true
  }

  /** See [[RowBlock.appendAll]]. */
  def appendAll(rows: Iterator[InternalRow]): Unit =
    while (rows.hasNext) {
      val taken = appendBatch(rows, Int.MaxValue, groupOf = null)
      if (taken == 0) append(rows.next(), KeyGroups.NoGroup)
    }

  /** See [[RowBlock.appendBatch]]. */
  def appendBatch(input: Iterator[InternalRow], most: Int, groupOf: GroupReader): Int =
    input match {
      case batches: BatchedRows
          if batchEndpoints.isDefined && isWhole(batches.batch, groupOf) =>
        if (isAtCapacity) grow()
        val (batch, first) = (batches.batch, batches.position)
        val room = arrays.capacity - arrays.numRows
        val n = Seq(most, room, batch.rowsOf(BlockMemoryAccount.ObjectStep, first)).min
        if (groupOf == null) add(batch, first, n)
        else addWithGroups(batch, first, groupOf.of(batch, first, n))
        batches.skip(n)
        n
      case _ => 0
    }

  /** True if no endpoint and no key is missing in the batch. */
  private def isWhole(batch: RowBatch, groupOf: GroupReader): Boolean =
    batch != null && (groupOf == null || groupOf.takes(batch)) &&
      batchEndpoints.get.forall(_.takes(batch))

  /** Adds those rows of a batch, from row `first` on, that have a group. */
  private def addWithGroups(batch: RowBatch, first: Int, groups: Array[Int]): Unit = {
    val (own, at) = (arrays.groups, arrays.numRows)
    val taken = new Array[Int](groups.length)
    var n = 0
    var i = 0
    while (i < groups.length) {
      if (groups(i) != KeyGroups.NoGroup) {
        own(at + n) = groups(i)
        taken(n) = first + i
        n += 1
      }
      i += 1
    }
    if (n == groups.length) add(batch, first, n)
    else add(batch.select(taken.take(n)), 0, n)
  }

  private def add(batch: RowBatch, first: Int, n: Int): Unit = {
    if (hasObjects)
      (first until first + n).foreach(i => account.reserveObjects(batch.textBytes(i)))
    arrays.add(batch, first, n, batchEndpoints.get)
  }

  /** Moves the rows of others to the arrays. See [[RowBlock.fill]]. */
  def fill(others: Seq[RowAppender]): Unit = {
    val total = others.map(_.arrays.numRows.toLong).sum
    if (total > RowAppender.MaxRows) throw RowAppender.tooMany
    account.reserveRows(total.toInt)
    arrays.resize(total.toInt)
    others.foreach(addAll)
    others.foreach(_.account.leave())
  }

  private def addAll(other: RowAppender): Unit = {
    account.takeObjects(other.account)
    failures.addAll(arrays.numRows, other.failures)
    arrays.addAll(other.arrays)
  }

  /** True if memory for another row was refused. */
  def isFull: Boolean = account.isShort || isAtCapacity && !tryGrow()

  /** Makes room for the first rows. */
  def reserve(): Unit = if (arrays.capacity == 0) grow()

  def clear(): Unit = {
    arrays.clear()
    account.clear()
    failures.clear()
  }

  private def grow(): Unit = {
    if (isLargest) throw RowAppender.tooMany
    account.reserveRows(nextCapacity - arrays.capacity)
    arrays.resize(nextCapacity)
  }

  private def tryGrow(): Boolean =
    !isLargest && account.tryReserveRows(nextCapacity - arrays.capacity) && {
      arrays.resize(nextCapacity)
      true
    }

  private def isAtCapacity: Boolean = arrays.numRows == arrays.capacity
  private def isLargest: Boolean = arrays.capacity > RowAppender.MaxRows / 2
  private def nextCapacity: Int =
    if (arrays.capacity == 0) RowAppender.FirstCapacity else 2 * arrays.capacity
}

private object RowAppender {
  private val FirstCapacity = 1024

  /** The bytes per row that a sort needs temporarily. */
  private val SortBytes = 40

  /** A sort needs four array elements per row, and an array has fewer than 2^31 elements. */
  private val MaxRows = 1 << 28

  /** The bytes of a row's values of variable length, or more. */
  private def bytesOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes
    case batched: BatchRow => batched.textBytes
    case _ => 0
  }

  private def tooMany: SparkException =
    SparkException.internalError(s"IntervalSweepJoin: a chunk of more than $MaxRows rows")
}
