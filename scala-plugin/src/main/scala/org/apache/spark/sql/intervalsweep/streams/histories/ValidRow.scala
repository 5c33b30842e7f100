// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType}

/**
 * A stored row:
 * {{{
 *   the number of its stream INT | start LONG | end LONG | the values as a row BINARY
 * }}}
 */
private[histories] object ValidRow {
  val Input = 0
  val Start = 1
  val End = 2
  val Values = 3
  val types: Array[DataType] = Array(IntegerType, LongType, LongType, BinaryType)

  /**
   * The rows of a stream that are valid in a slice or at its end, with their periods.
   *
   * @param values the number of columns without the period
   */
  def of(
      chunks: Iterator[Array[Byte]],
      input: Int,
      values: Int,
      slice: Slice): Iterator[InternalRow] = {
    val result = new PeriodRow(values)
    chunks.flatMap(RowUnpacker.unsafeRows(_, types.length)).filter(isOf(_, input, slice))
      .map(result.of)
  }

  /** Whether a stored row is of a stream, and valid in a slice or at its end. */
  def isOf(row: UnsafeRow, input: Int, slice: Slice): Boolean =
    row.getInt(Input) == input && row.getLong(Start) <= slice.now &&
      row.getLong(End) > slice.before
}

/**
 * A row whose values are stored as bytes, with its period: NULL for unbounded. The row that is
 * returned is valid until the next call.
 *
 * @param values the number of columns without the count and the period
 * @param counts whether the row has a count before the period
 */
private[histories] final class PeriodRow(values: Int, counts: Boolean = false) {
  private val row = new UnsafeRow(values)
  private val first = if (counts) 1 else 0
  private val period = new GenericInternalRow(first + 2)
  private val joined = new JoinedRow(row, period)

  def apply(bytes: Array[Byte], start: Long, end: Long, count: Long = 0): InternalRow = {
    row.pointTo(bytes, bytes.length)
    if (counts) period.update(0, count)
    period.update(first, time(start))
    period.update(first + 1, time(end))
    joined
  }

  /** The row of a [[ValidRow]]. */
  def of(stored: UnsafeRow): InternalRow = apply(
    stored.getBinary(ValidRow.Values),
    stored.getLong(ValidRow.Start),
    stored.getLong(ValidRow.End))

  private def time(end: Long): Any =
    if (end == Long.MinValue || end == Long.MaxValue) null else end
}

/**
 * A stored change: the fields of a [[ValidRow]], in which the end says whether the change is a
 * deletion, and
 * {{{
 *   the key as a row BINARY | the columns that order changes of one instant as a row BINARY
 * }}}
 */
private[histories] object Change {
  val Key = 4
  val Order = 5
  val types: Array[DataType] = ValidRow.types ++ Seq(BinaryType, BinaryType)

  /** The end of a change that only ends the previous change. */
  val Deleted: Long = Long.MinValue

  def rows(chunk: Array[Byte]): Iterator[UnsafeRow] =
    RowUnpacker.unsafeRows(chunk, types.length).map(_.copy())
}
