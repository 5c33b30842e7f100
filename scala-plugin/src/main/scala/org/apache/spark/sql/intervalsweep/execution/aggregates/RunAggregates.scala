// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, RowBlock}
import org.apache.spark.sql.types.LongType

/**
 * Computes the aggregates over the pairs of a row and its matches. [[start]] says which rows and
 * matches the next calls are about; it is called once per batch.
 */
final class RunAggregates(layout: RunLayout) {
  private val columns = layout.columns
  private val aggregates = columns.map(new ColumnAggregate(_))

  /** The values, as columns with one row. */
  val results: Array[BlockColumn] = aggregates.map(_.result)

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
   * Starts with other rows or other matches.
   *
   * @param side the side of the rows, which are in `block`
   * @param matches the matches of these rows on the other side
   */
  def start(side: Side, block: RowBlock, matches: Matches): Unit =
    aggregates.foreach(_.start(side, block, matches))

  /**
   * Computes the sums of the values for all boxes of a batch, column by column. The CPU overlaps
   * the cache misses of a loop over one column. Runs that pass through the join and the aggregate
   * one by one would wait for each.
   *
   * @param batch the matches that [[start]] was called with
   */
  def total(batch: BatchMatches): Unit = aggregates.foreach(_.total(batch))

  /** Computes the values for a row. The matches must have been moved to it. */
  def compute(row: Int): Unit = {
    var k = 0
    while (k < aggregates.length) { aggregates(k).compute(row); k += 1 }
  }
}

private object RunAggregates {

  /** For a column: a table of counts, and a table of sums or a tree. */
  private val BytesPerRow = 24
}
