// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, DoubleColumn, LongColumn, RowBlock
}

/**
 * Computes one aggregate over a row and its matches. An operand of the aggregate is a column of the
 * row, or of its matches:
 *
 * {{{
 *   n matches      x of the row               y of the matches    both
 *   count          n; 0 if x is NULL          count(y)
 *   sum            n x; NULL if x is NULL     sum(y)              sum(x + y) = count(y) x + sum(y)
 *   min, max       x                          min(y), max(y)
 * }}}
 *
 * [[start]] finds the operands once per batch. Afterwards a value takes no further lookup.
 */
private[aggregates] final class ColumnAggregate(column: RunColumn) {
  private val kind = column.kind

  /** The value, as a column with one row. */
  val result: BlockColumn = BlockColumn(column.dataType)
  result.grow(1)

  private var matches: Matches = _

  /** The column of the row that is an operand; null if there is none. */
  private var own: BlockColumn = _

  /** The number of the matches' column that is an operand; -1 if there is none. */
  private var other = -1

  /** True if the row has the first operand. */
  private var isOwnFirst = false

  /**
   * Starts with other rows or other matches.
   *
   * @param side the side of the rows, which are in `block`
   */
  def start(side: Side, block: RowBlock, matches: Matches): Unit = {
    this.matches = matches
    own = column.columns.find(_.side == side).map(place => block.columns(place.ordinal)).orNull
    other = column.columns.find(_.side != side).fold(-1)(_.ordinal)
    isOwnFirst = column.columns.headOption.exists(_.side == side)
  }

  /** Computes the value for a row, whose matches are the current ones of `matches`. */
  def compute(row: Int): Unit = kind match {
    case RunKind.Rows => result.setLong(0, matches.rows)
    case RunKind.SumOfTwo => ofBoth(row)
    case _ => if (own != null) ofRow(row) else ofMatches()
  }

  private def ofRow(row: Int): Unit = kind match {
    case RunKind.Count => result.setLong(0, if (own.nulls(row)) 0L else matches.rows)
    case RunKind.Sum if !own.nulls(row) =>
      own match {
        case double: DoubleColumn => result.setDouble(0, double.values(row) * matches.rows)
        case _ => result.setLong(0, own.long(row) * matches.rows)
      }
    case _ => result.copy(0, own, row)
  }

  private def ofMatches(): Unit = kind match {
    case RunKind.Count => result.setLong(0, matches.count(other))
    case RunKind.Sum =>
      if (matches.count(other) == 0) result.nulls(0) = true
      else if (result.isInstanceOf[DoubleColumn]) result.setDouble(0, matches.doubleSum(other))
      else result.setLong(0, matches.sum(other))
    case _ =>
      val position = matches.extreme(other, kind)
      if (position < 0) result.nulls(0) = true
      else result.copy(0, matches.block.columns(other), position)
  }

  /** Adds up the pairs in which neither operand is NULL. */
  private def ofBoth(row: Int): Unit = {
    val n = matches.count(other)
    if (own.nulls(row) || n == 0) result.nulls(0) = true
    else result.setLong(0, combined(own.long(row) * n, matches.sum(other)))
  }

  /** The sum or the difference of two sums: of the row's operand, and of the matches' operand. */
  private def combined(x: Long, y: Long): Long =
    if (!column.isDifference) x + y else if (isOwnFirst) x - y else y - x

  /** Computes the sum of the values for all boxes of a batch, which [[start]] was called with. */
  def total(batch: BatchMatches): Unit =
    if (kind == RunKind.Rows) result.setLong(0, batch.runs.pairs)
    else if (hasPlainOperands) result.setLong(0, totalOfBoth(batch))
    else totalOfEach(batch)

  private def totalOfEach(batch: BatchMatches): Unit = {
    val runs = batch.runs
    var sum = 0L
    var isNull = true
    var k = 0
    while (k < runs.size) {
      batch.set(k)
      compute(runs.box(k))
      if (!result.nulls(0)) {
        sum += result.long(0)
        isNull = false
      }
      k += 1
    }
    result.setLong(0, sum)
    result.nulls(0) = isNull
  }

  /** True for a sum over two 64-bit columns without NULLs, which has a loop of its own. */
  private def hasPlainOperands: Boolean = kind == RunKind.SumOfTwo &&
    Seq(own, matches.block.columns(other)).forall { operand =>
      operand.nullsIfAny == null && operand.isInstanceOf[LongColumn]
    }

  private def totalOfBoth(batch: BatchMatches): Long = {
    val values = own.asInstanceOf[LongColumn].values
    val sums = batch.sums(other)
    val (boxes, counts, n) = (batch.runs.box, batch.runs.count, batch.runs.size)
    var x = 0L
    var y = 0L
    var k = 0
    while (k < n) {
      x += values(boxes(k)) * counts(k)
      y += sums(k)
      k += 1
    }
    combined(x, y)
  }
}
