// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.Arrays
import java.util.stream.IntStream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.packing.{Permutation, RowBatch}

/**
 * The rows of a block as parallel arrays: element `i` of each array belongs to row `i`.
 *
 * {{{
 *   row             0    1    2    numRows = 3, capacity = 4
 *   endpoints(0)    10   3    7    _
 *   endpoints(1)    20   9    8    _
 *   columns(0)      a    b    c    _
 *   groups          0    0    1    _         null without equality keys
 * }}}
 *
 * The caller makes room before it adds rows.
 */
private[block] final class RowArrays(layout: BlockLayout) {
  val endpoints: Array[Array[Long]] = Array.fill(layout.endpoints.size)(Array.emptyLongArray)
  val columns: Array[BlockColumn] = layout.columnTypes.map(BlockColumn(_)).toArray
  var groups: Array[Int] = _
  var numRows = 0
  var capacity = 0

  /** Bytes per row, without values of variable length. */
  def bytesPerRow: Long = 4L + 8 * endpoints.length + columns.map(_.bytesPerRow).sum

  /** Adds a row. `endpointOf` has read it. */
  def add(row: InternalRow, endpointOf: EndpointReader, group: Int): Unit = {
    var k = 0
    while (k < endpoints.length) { endpoints(k)(numRows) = endpointOf(k); k += 1 }
    k = 0
    while (k < columns.length) { columns(k).set(numRows, row, layout.ordinals(k)); k += 1 }
    if (group >= 0) groups(numRows) = group
    numRows += 1
  }

  /** Adds `n` rows of a batch, from its row `first` on, without their groups. */
  def add(batch: RowBatch, first: Int, n: Int, fields: Array[EndpointColumn]): Unit = {
    endpoints.indices.foreach { k =>
      fields(k).read(batch, first, n, endpoints(k), numRows)
    }
    columns.indices.foreach(k => columns(k).setAll(numRows, batch, layout.ordinals(k), first, n))
    numRows += n
  }

  /** Adds the rows of other arrays, without their groups. */
  def addAll(other: RowArrays): Unit = {
    endpoints.indices.foreach { k =>
      System.arraycopy(other.endpoints(k), 0, endpoints(k), numRows, other.numRows)
    }
    columns.indices.foreach(k => columns(k).copyAll(numRows, other.columns(k), other.numRows))
    numRows += other.numRows
  }

  /** Makes room for `larger` rows, and keeps the existing ones. */
  def resize(larger: Int): Unit = {
    endpoints.indices.foreach(k => endpoints(k) = Arrays.copyOf(endpoints(k), larger))
    columns.foreach(_.grow(larger))
    if (groups != null) groups = Arrays.copyOf(groups, larger)
    capacity = larger
  }

  /** Reorders the rows: row `i` was row `order(i)`. */
  def permute(order: Array[Int], inParallel: Boolean): Unit = {
    val all = IntStream.range(0, endpoints.length + columns.length)
    (if (inParallel) all.parallel() else all).forEach { k =>
      if (k >= endpoints.length) columns(k - endpoints.length).permute(order, numRows)
      else endpoints(k) = Permutation.permuted(endpoints(k), order, numRows)
    }
    if (groups != null) groups = Permutation.permuted(groups, order, numRows)
  }

  /** Removes the rows, and keeps the arrays. */
  def clear(): Unit = {
    columns.foreach(_.clear(numRows))
    numRows = 0
  }
}
