// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.intervalsweep.execution.index.SegmentTree

/**
 * Tables over the columns of a block. They give aggregates over any run of rows without a loop over
 * the run: in O(1) for counts and sums of integers, in O(log n) for the trees. Each table is
 * computed once, at the first request; several tasks may request it.
 *
 * @param rows the number of rows of the columns
 */
final class BlockTables(columns: Array[BlockColumn], rows: Int) {
  private val tables = new ConcurrentHashMap[(String, Int), AnyRef]

  /** Element `i` is the number of non-NULL values among the first `i` rows. */
  def counts(column: Int): Array[Int] = table("counts", column) { c =>
    val counts = new Array[Int](rows + 1)
    var i = 0
    while (i < rows) {
      counts(i + 1) = counts(i) + (if (c.nulls(i)) 0 else 1)
      i += 1
    }
    counts
  }

  /**
   * Element `i` is the sum of the first `i` rows. It may wrap around. The difference of two
   * elements is still exact if it fits into 64 bits.
   */
  def sums(column: Int): Array[Long] = table("sums", column) { c =>
    val values = c.longs(rows)
    val sums = new Array[Long](rows + 1)
    var sum = 0L
    var i = 0
    while (i < sums.length - 1) {
      sum += values(i)
      i += 1
      sums(i) = sum
    }
    sums
  }

  /** The greatest absolute value of an integral column. */
  def bound(column: Int): Double = table[java.lang.Double]("bound", column) { c =>
    val values = c.longs(rows)
    var least = 0L
    var most = 0L
    var i = 0
    while (i < rows) {
      least = math.min(least, values(i))
      most = math.max(most, values(i))
      i += 1
    }
    math.max(-least.toDouble, most.toDouble)
  }

  def doubleSums(column: Int): SumTree = table("doubleSums", column) { c =>
    new SumTree(c.asInstanceOf[DoubleColumn], rows)
  }

  def least(column: Int): ExtremeTree =
    table("least", column)(new ExtremeTree(_, rows, sign = -1))

  def greatest(column: Int): ExtremeTree =
    table("greatest", column)(new ExtremeTree(_, rows, sign = 1))

  private def table[T <: AnyRef](kind: String, column: Int)(make: BlockColumn => T): T =
    tables.computeIfAbsent((kind, column), _ => make(columns(column))).asInstanceOf[T]
}

/**
 * Sums of floating-point numbers: a [[SegmentTree]] whose leaves are the rows. Each other node is
 * the sum of its two children. A run is the sum of O(log n) nodes, so it has the rounding errors of
 * O(log n) additions. The difference of two prefix sums would have those of all rows before the
 * run.
 */
final class SumTree(column: DoubleColumn, rows: Int) {
  private val nodes = new Array[Double](2 * rows)
  (0 until rows).foreach(i => nodes(rows + i) = if (column.nulls(i)) 0.0 else column.values(i))
  (rows - 1 to 1 by -1).foreach(i => nodes(i) = nodes(2 * i) + nodes(2 * i + 1))

  /** The sum of the rows [first, first + count). */
  def of(first: Int, count: Int): Double = {
    var sum = 0.0
    SegmentTree.cover(rows, first, count)(sum += nodes(_))
    sum
  }
}

/**
 * Least or greatest values: a tree like [[SumTree]]. Each node has the position of an extreme value
 * of its rows, or -1 if all of them are NULL.
 *
 * @param sign 1 for the greatest value, -1 for the least
 */
final class ExtremeTree(column: BlockColumn, rows: Int, sign: Int) {
  private val nodes = new Array[Int](2 * rows)
  (0 until rows).foreach(i => nodes(rows + i) = if (column.nulls(i)) -1 else i)
  (rows - 1 to 1 by -1).foreach(i => nodes(i) = better(nodes(2 * i), nodes(2 * i + 1)))

  private def better(i: Int, j: Int): Int =
    if (i < 0) j else if (j < 0) i else if (sign * column.compare(i, j) >= 0) i else j

  /** The position of the extreme value of the rows [first, first + count); -1 if all are NULL. */
  def of(first: Int, count: Int): Int = {
    var best = -1
    SegmentTree.cover(rows, first, count)(node => best = better(best, nodes(node)))
    best
  }
}
