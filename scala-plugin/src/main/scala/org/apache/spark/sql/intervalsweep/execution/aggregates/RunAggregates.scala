// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, DoubleColumn, LongColumn, RowBlock
}
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch
import org.apache.spark.sql.types.LongType

/** Computes the values of [[RunColumn]]s for a row and its matches. */
final class RunAggregates(val layout: RunLayout) {
  private val columns = layout.columns

  /** The values, as columns with one row. */
  val results: Array[BlockColumn] = columns.map { c =>
    val result = BlockColumn(c.dataType)
    result.grow(1)
    result
  }

  /** True if the pairs of a box may be emitted as one row. Otherwise those of a point may. */
  def isByBox(boxes: Side): Boolean = layout.groupSide.forall(_ == boxes)

  /**
   * Reserves memory for tables over the rows of a chunk. If it is refused, pairs are emitted one by
   * one.
   */
  def reserve(left: RowBlock, right: RowBlock): Boolean =
    left.reserveTables(bytesPerRow) && right.reserveTables(bytesPerRow)

  private def bytesPerRow: Int = RunAggregates.BytesPerRow * (1 + columns.length)

  /** An accumulator for the matches of each point. */
  def gathered(boxes: Side, block: Side => RowBlock): PerPointAccumulator =
    new PerPointAccumulator(columns, boxes, block(boxes), block(boxes.other).numRows)

  /**
   * The number of pairs up to which no sum can leave 64 bits. If there are more pairs, Spark adds
   * them up one by one, and decides what happens on overflow.
   */
  def mostPairs(block: Side => RowBlock): Double = {
    def bound(place: ColumnPlace): Double = block(place.side).tables.bound(place.ordinal)
    columns.map { c =>
      val each = c.kind match {
        case RunKind.Sum if c.dataType == LongType => bound(c.columns(0))
        case RunKind.SumOfTwo => bound(c.columns(0)) + bound(c.columns(1))
        case _ => 0.0
      }
      if (each > c.limit) 0.0 else if (each == 0) Double.MaxValue else RunValue.MostLong / each
    }.minOption.getOrElse(Double.MaxValue)
  }

  /** True if the values of several runs can be added up, which requires a single group. */
  val areAdditive: Boolean = layout.groupSide.isEmpty && columns.forall { c =>
    c.dataType == LongType && c.kind != RunKind.Least && c.kind != RunKind.Greatest
  }

  /**
   * Computes the values for all runs of a batch, column by column. The CPU overlaps the cache
   * misses of a loop over one column. Runs that pass through the join and the aggregate one by one
   * would wait for each.
   */
  def total(side: Side, own: RowBlock, runs: RunBatch, partners: BatchMatches): Unit =
    columns.indices.foreach(k => total(columns(k), results(k), side, own, runs, partners))

  private def total(
      c: RunColumn,
      result: BlockColumn,
      side: Side,
      own: RowBlock,
      runs: RunBatch,
      partners: BatchMatches): Unit = {
    var sum = 0L
    var isNull = true
    if (c.kind == RunKind.Rows) {
      sum = runs.pairs
      isNull = false
    } else if (isPlain(c, side, own, partners)) {
      sum = totalOfTwo(c, side, own, runs, partners)
      isNull = false
    } else {
      var k = 0
      while (k < runs.size) {
        partners.set(k)
        compute(c, result, side, own, runs.box(k), partners)
        if (!result.nulls(0)) {
          sum += result.long(0)
          isNull = false
        }
        k += 1
      }
    }
    result.setLong(0, sum)
    result.nulls(0) = isNull
  }

  /** True for a sum over two 64-bit columns without NULLs, which has a loop of its own. */
  private def isPlain(c: RunColumn, side: Side, own: RowBlock, partners: Matches): Boolean =
    c.kind == RunKind.SumOfTwo && c.columns.forall { place =>
      val column = (if (place.side == side) own else partners.block).columns(place.ordinal)
      column.nullsIfAny == null && column.isInstanceOf[LongColumn]
    }

  private def totalOfTwo(
      c: RunColumn,
      side: Side,
      own: RowBlock,
      runs: RunBatch,
      partners: BatchMatches): Long = {
    val (ownPlaces, otherPlaces) = c.columns.partition(_.side == side)
    val values = own.columns(ownPlaces(0).ordinal).asInstanceOf[LongColumn].values
    val sums = partners.sums(otherPlaces(0).ordinal)
    val (boxes, counts, n) = (runs.box, runs.count, runs.size)
    var x = 0L
    var y = 0L
    var k = 0
    while (k < n) {
      x += values(boxes(k)) * counts(k)
      y += sums(k)
      k += 1
    }
    if (!c.isDifference) x + y else if (c.columns(0).side == side) x - y else y - x
  }

  /** Computes the values for row `row` of `own`, the block of one side. */
  def compute(side: Side, own: RowBlock, row: Int, partners: Matches): Unit = {
    var k = 0
    while (k < columns.length) {
      compute(columns(k), results(k), side, own, row, partners)
      k += 1
    }
  }

  private def compute(
      c: RunColumn,
      result: BlockColumn,
      side: Side,
      own: RowBlock,
      row: Int,
      partners: Matches): Unit =
    c.kind match {
      case RunKind.Rows => result.setLong(0, partners.rows)
      case RunKind.SumOfTwo => sumOfTwo(c, result, side, own, row, partners)
      case kind if c.columns(0).side == side =>
        val value = own.columns(c.columns(0).ordinal)
        ofOwn(kind, result, value, row, partners.rows)
      case kind => ofPartners(kind, result, c.columns(0).ordinal, partners)
    }

  private def ofOwn(
      kind: RunKind,
      result: BlockColumn,
      value: BlockColumn,
      row: Int,
      n: Long): Unit =
    kind match {
      case RunKind.Count => result.setLong(0, if (value.nulls(row)) 0L else n)
      case RunKind.Sum if !value.nulls(row) =>
        value match {
          case double: DoubleColumn => result.setDouble(0, double.values(row) * n)
          case _ => result.setLong(0, value.long(row) * n)
        }
      case _ => result.copy(0, value, row)
    }

  private def ofPartners(
      kind: RunKind,
      result: BlockColumn,
      column: Int,
      partners: Matches): Unit =
    kind match {
      case RunKind.Count => result.setLong(0, partners.count(column))
      case RunKind.Sum =>
        if (partners.count(column) == 0) result.nulls(0) = true
        else if (result.isInstanceOf[DoubleColumn])
          result.setDouble(0, partners.doubleSum(column))
        else result.setLong(0, partners.sum(column))
      case _ =>
        val position = partners.extreme(column, kind)
        if (position < 0) result.nulls(0) = true
        else result.copy(0, partners.block.columns(column), position)
    }

  /** `sum(x + y_i) = count(y_i) x + sum(y_i)`, over the matches in which neither is NULL. */
  private def sumOfTwo(
      c: RunColumn,
      result: BlockColumn,
      side: Side,
      own: RowBlock,
      row: Int,
      partners: Matches): Unit = {
    val isFirst = c.columns(0).side == side
    val value = own.columns(c.columns(if (isFirst) 0 else 1).ordinal)
    val other = c.columns(if (isFirst) 1 else 0).ordinal
    val n = partners.count(other)
    if (value.nulls(row) || n == 0) result.nulls(0) = true
    else {
      val x = value.long(row) * n
      val y = partners.sum(other)
      result.setLong(0, if (!c.isDifference) x + y else if (isFirst) x - y else y - x)
    }
  }
}

private object RunAggregates {

  /** For a column: a table of counts, and a table of sums or a tree. */
  private val BytesPerRow = 24
}
