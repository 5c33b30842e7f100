// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import java.util.{BitSet => JBitSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock

/**
 * The probe-side rows of a key group whose build-side rows do not all fit into memory. They are
 * kept, on disk if necessary, because they meet one chunk of build-side rows after another.
 *
 * @param input the probe side; the constructor takes its rows of the held key
 * @param spillSize counts the bytes that are kept on disk
 */
private final class SpilledGroup(input: SortedInput, spillSize: SQLMetric) {
  private val rows = SparkShims.spillingRows(SpilledGroup.RowsInMemory, SpilledGroup.BytesInMemory)
  private val project = UnsafeProjection.create(input.columns.map(_.dataType).toArray)
  while (input.hasHeldRow) {
    rows.add(project(input.row))
    input.advance()
  }

  /** Rows that have a match, numbered in the order in which they come. */
  private val matched = new JBitSet
  private var remaining = rows.generateIterator()
  private var isFirstPass = true
  private var taken = 0
  private var filledFrom = 0

  /** The position in the block of the first row that the last [[fill]] added. */
  var start = 0

  def hasNext: Boolean = remaining.hasNext

  /**
   * Adds rows to a block while `hasSpace`. Rows that can match nothing go to `pass`, in the first
   * pass only.
   */
  def fill(block: RowBlock, group: Int, hasSpace: => Boolean, pass: InternalRow => Unit): Unit = {
    start = block.numRows
    filledFrom = taken
    while (remaining.hasNext && hasSpace) {
      val row = remaining.next()
      if (block.append(row, group)) taken += 1 else if (isFirstPass) pass(row)
    }
  }

  /**
   * Marks the rows that were added last, and that had a match in an earlier pass. The block has
   * been sorted.
   */
  def restoreMatches(block: RowBlock): Unit = (start until block.numRows).foreach { i =>
    if (matched.get(number(block, i))) block.matched.set(i)
  }

  /** Remembers which of the rows that were added last have a match. */
  def keepMatches(block: RowBlock): Unit = (start until block.numRows).foreach { i =>
    if (block.matched.get(i)) matched.set(number(block, i))
  }

  /** The number of a row that was added last, by its position in the sorted block. */
  def number(block: RowBlock, i: Int): Int =
    block.positionBeforeSort(i) - start + filledFrom

  /** Starts again, for the next chunk of build-side rows. */
  def rewind(): Unit = {
    remaining = rows.generateIterator()
    isFirstPass = false
    taken = 0
  }

  def clear(): Unit = {
    spillSize.add(rows.spillSize)
    rows.clear()
  }
}

private object SpilledGroup {

  /** The rows that are kept before they are handed to a sorter of Spark's, which spills. */
  private val RowsInMemory = 4096
  private val BytesInMemory = 4L << 20
}
