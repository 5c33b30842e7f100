// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, DoubleColumn, RowBlock}
import org.apache.spark.sql.intervalsweep.execution.index.SegmentTree

/**
 * The matches of each point of a chunk, for aggregates that group by points. Each box adds itself
 * to the points of its run, in O(log n) for n points. After the last run, one pass over the points
 * gives the aggregates of each.
 *
 * {{{
 *   point        0   1   2   3   4
 *   box a (5)        [---]                 counts, and sums of integers: the change from a point
 *   box b (7)            [-------]         to the next one
 *   change           +5  +7  -5     -7
 *   sum          0   5   12  7   7
 * }}}
 *
 * Sums of floating-point numbers, and least and greatest values, cannot be taken back. For these a
 * box adds itself to the few nodes of a tree that cover its points.
 */
final class PerPointAccumulator(
    columns: Array[RunColumn],
    boxSide: Side,
    override val block: RowBlock,
    points: Int)
    extends Matches {
  private val changes = new Array[Long](points + 1)
  private val some = new PositionTree(points, (_, added) => added)
  private val counts = gathered(RunKind.Count, RunKind.Sum, RunKind.SumOfTwo) { c =>
    new Changes(c, points, _ => 1L)
  }
  private val sums = gathered(RunKind.Sum, RunKind.SumOfTwo) { c =>
    if (c.isInstanceOf[DoubleColumn]) null else new Changes(c, points, c.long)
  }
  private val doubleSums = gathered(RunKind.Sum) {
    case c: DoubleColumn => new SumAccumulator(c, points)
    case _ => null
  }
  private val least = gathered(RunKind.Least)(new ExtremeAccumulator(_, points, sign = -1))
  private val greatest = gathered(RunKind.Greatest)(new ExtremeAccumulator(_, points, sign = 1))
  private val all = (counts ++ sums ++ doubleSums ++ least ++ greatest).filter(_ != null)
  private var point = -1

  /** Accumulators by the number of the column; null for columns that are not requested. */
  private def gathered(kinds: RunKind*)(make: BlockColumn => Accumulator): Array[Accumulator] = {
    val wanted = columns.filter(c => kinds.contains(c.kind)).flatMap(_.columns)
      .filter(_.side == boxSide).map(_.ordinal)
    Array.tabulate(block.columns.length) { i =>
      if (wanted.contains(i)) make(block.columns(i)) else null
    }
  }

  /** Adds a box to the points [first, first + count). */
  def add(box: Int, first: Int, count: Int): Unit = {
    changes(first) += 1
    changes(first + count) -= 1
    some.add(box, first, count)
    var k = 0
    while (k < all.length) { all(k).add(box, first, count); k += 1 }
  }

  /** Computes the aggregates of all points. Call it after the last box. */
  def finish(): Unit = {
    Changes.accumulate(changes)
    some.finish()
    all.foreach(_.finish())
  }

  /** Moves to the next point that has a match; false after the last one. */
  def advance(): Boolean = {
    point += 1
    while (point < points && changes(point) == 0) point += 1
    point < points
  }

  /** The current point. */
  def position: Int = point

  /** One of the boxes that match the current point. */
  def partner: Int = some.at(point)

  override def rows: Long = changes(point)
  override def count(column: Int): Long = counts(column).long(point)
  override def sum(column: Int): Long = sums(column).long(point)
  override def doubleSum(column: Int): Double = doubleSums(column).double(point)
  override def extreme(column: Int, kind: RunKind): Int =
    (if (kind == RunKind.Least) least else greatest) (column).position(point)
}

/** An aggregate of a column of the boxes, for each point. */
private abstract class Accumulator {
  def add(box: Int, first: Int, count: Int): Unit
  def finish(): Unit
  def long(point: Int): Long = throw new UnsupportedOperationException
  def double(point: Int): Double = throw new UnsupportedOperationException
  def position(point: Int): Int = throw new UnsupportedOperationException
}

private object Changes {

  /** Turns changes into sums, in place. Sums may wrap around on the way. */
  def accumulate(changes: Array[Long]): Unit = {
    var i = 1
    while (i < changes.length) { changes(i) += changes(i - 1); i += 1 }
  }
}

/** Sums of integers. */
private final class Changes(column: BlockColumn, points: Int, value: Int => Long)
    extends Accumulator {
  private val changes = new Array[Long](points + 1)
  override def add(box: Int, first: Int, count: Int): Unit = if (!column.nulls(box)) {
    val added = value(box)
    changes(first) += added
    changes(first + count) -= added
  }
  override def finish(): Unit = Changes.accumulate(changes)
  override def long(point: Int): Long = changes(point)
}

/** Sums of floating-point numbers. */
private final class SumAccumulator(column: DoubleColumn, points: Int) extends Accumulator {
  private val nodes = new Array[Double](2 * points)
  override def add(box: Int, first: Int, count: Int): Unit = if (!column.nulls(box)) {
    val added = column.values(box)
    SegmentTree.cover(points, first, count)(nodes(_) += added)
  }
  override def finish(): Unit =
    SegmentTree.descend(points)((above, below) => nodes(below) += nodes(above))
  override def double(point: Int): Double = nodes(points + point)
}

/** The positions of the least or the greatest values. */
private final class ExtremeAccumulator(column: BlockColumn, points: Int, sign: Int)
    extends Accumulator {
  private val tree = new PositionTree(
    points,
    (known, added) => if (sign * column.compare(known, added) >= 0) known else added)
  override def add(box: Int, first: Int, count: Int): Unit =
    if (!column.nulls(box)) tree.add(box, first, count)
  override def finish(): Unit = tree.finish()
  override def position(point: Int): Int = tree.at(point)
}

/**
 * For each point, one of the boxes that were added to it; -1 if there is none.
 *
 * @param better chooses one of two boxes
 */
private final class PositionTree(points: Int, better: (Int, Int) => Int) {
  private val nodes = Array.fill(2 * points)(-1)

  def add(box: Int, first: Int, count: Int): Unit =
    SegmentTree.cover(points, first, count)(put(_, box))

  private def put(node: Int, box: Int): Unit =
    if (box >= 0) nodes(node) = if (nodes(node) < 0) box else better(nodes(node), box)

  def finish(): Unit =
    SegmentTree.descend(points)((above, below) => put(below, nodes(above)))

  def at(point: Int): Int = nodes(points + point)
}
