// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.sql.intervalsweep.execution.block.{BlockMemory, EndpointOrder}
import org.apache.spark.sql.intervalsweep.execution.packing.{DistinctRows, Permutation}

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
    size + more <= groups.length || size + more <= mostRows && grow()

  private def grow(): Boolean = {
    val rows = math.min(mostRows, math.max(PeriodChunk.FirstRows, 2 * groups.length))
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

  /** The numbers of one row. */
  def row(i: Int): Array[Long] = numbers.map(_(i))

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
  private val FirstRows = 1 << 12
}
