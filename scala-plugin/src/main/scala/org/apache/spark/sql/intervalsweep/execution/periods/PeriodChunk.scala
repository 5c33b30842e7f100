// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.sql.intervalsweep.execution.block.{BlockMemory, EndpointOrder}
import org.apache.spark.sql.intervalsweep.execution.packing.{DistinctRows, Permutation, RowBatch}

/**
 * The numbers of rows that are sent to the worker together, and the keys of their groups. Their
 * memory is counted, and released when the task ends.
 *
 * @param width the numbers that a row has: its start, its end, and others
 * @param isNeeded true if a task cannot go on without memory for the first rows; it fails then
 */
private[periods] final class PeriodChunk(
    width: Int,
    mostRows: Int,
    memory: BlockMemory,
    isNeeded: Boolean = true) {
  var groups = new Array[Int](0)
  var numbers: Array[Array[Long]] = Array.fill(width)(new Array[Long](0))
  var size = 0

  /** The rows for which there is memory. */
  def capacity: Int = groups.length

  /** The key of each group. */
  val keys = new DistinctRows

  /** Removes all rows before `row`, which begins a group. */
  def keepFrom(row: Int): Unit = {
    val rest = size - row
    val group = if (rest == 0) keys.size else groups(row)
    numbers.foreach(values => System.arraycopy(values, row, values, 0, rest))
    var i = 0
    while (i < rest) { groups(i) = groups(row + i) - group; i += 1 }
    keys.removeFirst(group)
    size = rest
  }

  def clear(): Unit = {
    size = 0
    keys.clear()
  }

  /** Makes room for more rows; false if memory for them is refused. */
  def hasRoom(more: Int = 1): Boolean =
    size + more <= groups.length || size + more <= mostRows && grow(more)

  private def grow(more: Int): Boolean = {
    val wanted = math.max(size + more, 2 * groups.length)
    val rows = math.min(mostRows, math.max(PeriodChunk.FirstRows, wanted))
    val bytes = bytesOf(rows) - bytesOf(groups.length)
    val mustFit = isNeeded && groups.length == 0
    if (mustFit) memory.reserve(bytes)
    val isGranted = mustFit || memory.tryReserve(bytes)
    if (isGranted) {
      groups = java.util.Arrays.copyOf(groups, rows)
      numbers = numbers.map(java.util.Arrays.copyOf(_, rows))
    }
    isGranted
  }

  /** Releases the memory. */
  def free(): Unit = {
    memory.release(bytesOf(groups.length))
    size = 0
    keys.free()
    groups = new Array[Int](0)
    numbers = Array.fill(width)(new Array[Long](0))
  }

  private def bytesOf(rows: Long): Long = rows * (4 + 8 * width)

  def add(group: Int, number: Int => Long): Unit = {
    groups(size) = group
    var k = 0
    while (k < width) { numbers(k)(size) = number(k); k += 1 }
    size += 1
  }

  /**
   * Adds `n` rows of a batch, from row `first` on. Their groups must be set.
   *
   * @param fields where the numbers of a row are in the batch
   */
  def addAll(batch: RowBatch, fields: Array[Int], first: Int, n: Int): Unit = {
    var k = 0
    while (k < width) {
      System.arraycopy(batch.words(fields(k)), first, numbers(k), size, n)
      k += 1
    }
    size += n
  }

  /** Clips the periods of the last `n` rows to a section of time. */
  def clip(limits: (Long, Long), n: Int): Unit = if (limits != PeriodChunk.NoLimits) {
    val (least, greatest) = limits
    val (starts, ends) = (numbers(0), numbers(1))
    var i = size - n
    while (i < size) {
      starts(i) = math.max(starts(i), least)
      ends(i) = math.min(ends(i), greatest)
      i += 1
    }
  }

  /** The numbers of one row. */
  def row(i: Int): Array[Long] = numbers.map(_(i))

  /**
   * Moves each row that is the only one of its group behind all others.
   *
   * @return the number of the other rows
   */
  def moveSingles(): Int = {
    val isFound = new Array[Boolean](keys.size)
    val isShared = new Array[Boolean](keys.size)
    var i = 0
    while (i < size) {
      if (isFound(groups(i))) isShared(groups(i)) = true
      isFound(groups(i)) = true
      i += 1
    }
    var others = 0
    var end = size
    while (others < end)
      if (isShared(groups(others))) others += 1
      else {
        end -= 1
        if (isShared(groups(end))) swap(others, end)
      }
    others
  }

  private def swap(i: Int, j: Int): Unit = {
    val group = groups(i)
    groups(i) = groups(j)
    groups(j) = group
    var k = 0
    while (k < width) {
      val number = numbers(k)(i)
      numbers(k)(i) = numbers(k)(j)
      numbers(k)(j) = number
      k += 1
    }
  }

  /** Sorts the first `n` rows by group and start. */
  def sort(n: Int): Unit = EndpointOrder.of(groups, numbers(0), n).foreach { order =>
    groups = sorted(groups, order, n)
    numbers = numbers.map(sorted(_, order, n))
  }

  private def sorted(values: Array[Int], order: Array[Int], n: Int): Array[Int] = {
    val result = Permutation.permuted(values, order, n)
    System.arraycopy(values, n, result, n, size - n)
    result
  }

  private def sorted(values: Array[Long], order: Array[Int], n: Int): Array[Long] = {
    val result = Permutation.permuted(values, order, n)
    System.arraycopy(values, n, result, n, size - n)
    result
  }
}

private[periods] object PeriodChunk {

  /** The whole axis of time. */
  val NoLimits: (Long, Long) = (Long.MinValue, Long.MaxValue)
  private val FirstRows = 1 << 12
}

/** The rows of a task for the worker, in portions that are sorted by group and start. */
private[periods] trait PeriodInput {

  /** The chunk that has the rows of the current portion, and the keys of their groups. */
  def chunk: PeriodChunk

  /** The first row of the portion, and the number of its rows. */
  def from: Int
  def size: Int

  /** True if the last group continues in the next portion. */
  def goesOn: Boolean

  /** Moves to the next portion; false if there are no more rows. */
  def advance(): Boolean

  /**
   * The rows of the chunk that are in no portion, because each is the only one of its group. They
   * can be read after the last portion.
   */
  def singles: Range
}
