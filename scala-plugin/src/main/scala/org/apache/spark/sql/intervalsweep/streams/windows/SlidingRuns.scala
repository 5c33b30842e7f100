// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, DoubleColumn}

/**
 * Aggregates over runs of rows whose two ends move forward, as the windows of a key do: O(1)
 * amortized per row, however long the runs are. Scale-OIJ (Section V-C) subtracts the rows that
 * leave a window, and therefore supports invertible functions only. Here a queue of two stacks
 * subtracts nothing, so that floating-point sums and extremes work, too.
 * {{{
 *            low        middle          high
 *   ----------[-----------|--------------)----------
 *             suffixes    |  accumulated row by row
 *   the suffixes from each row to the middle are computed once, when low reaches the old middle
 * }}}
 */
private[streams] sealed abstract class SlidingRuns {
  private var low, middle, high = 0

  /** Moves to the rows from `from` until `until`, whose aggregate `result` then returns. */
  final def move(from: Int, until: Int): Unit = {
    if (from < low || until < high || from > high) {
      low = from
      middle = from
      high = from
      clear()
    }
    while (high < until) { add(high); high += 1 }
    low = from
    if (low >= middle) {
      middle = high
      clear()
      var i = high - 1
      while (i >= low) { extend(i, isLast = i == high - 1); i -= 1 }
    }
  }

  protected final def first: Int = low
  protected final def hasSuffix: Boolean = low < middle

  /** Clears the aggregate of the rows behind the middle. */
  protected def clear(): Unit

  /** Adds a row to the aggregate of the rows behind the middle. */
  protected def add(row: Int): Unit

  /** Computes the suffix that begins with a row from the suffix behind it. */
  protected def extend(row: Int, isLast: Boolean): Unit
}

/** Sums; NULL counts as 0. */
private[streams] final class SlidingSum(column: DoubleColumn, rows: Int) extends SlidingRuns {
  private val values = column.values
  private val nulls = column.nullsIfAny
  private val suffixes = new Array[Double](rows)
  private var behind = 0.0

  private def value(row: Int): Double = if (nulls != null && nulls(row)) 0.0 else values(row)

  override protected def clear(): Unit = behind = 0.0
  override protected def add(row: Int): Unit = behind += value(row)
  override protected def extend(row: Int, isLast: Boolean): Unit =
    suffixes(row) = (if (isLast) 0.0 else suffixes(row + 1)) + value(row)

  def result: Double = if (hasSuffix) suffixes(first) + behind else behind
}

/**
 * Smallest or largest values.
 *
 * @param sign 1 for the largest, -1 for the smallest
 */
private[streams] final class SlidingExtreme(column: BlockColumn, rows: Int, sign: Int)
    extends SlidingRuns {
  private val nulls = column.nullsIfAny
  private val suffixes = new Array[Int](rows)
  private var behind = -1

  private def of(row: Int): Int = if (nulls != null && nulls(row)) -1 else row

  private def better(i: Int, j: Int): Int =
    if (i < 0) j else if (j < 0) i else if (sign * column.compare(i, j) >= 0) i else j

  override protected def clear(): Unit = behind = -1
  override protected def add(row: Int): Unit = behind = better(behind, of(row))
  override protected def extend(row: Int, isLast: Boolean): Unit =
    suffixes(row) = better(of(row), if (isLast) -1 else suffixes(row + 1))

  /** The row with the smallest or largest value; -1 if all values are NULL. */
  def result: Int = if (hasSuffix) better(suffixes(first), behind) else behind
}
