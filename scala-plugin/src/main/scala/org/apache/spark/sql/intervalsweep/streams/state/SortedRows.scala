// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.condition.model.Sweep
import org.apache.spark.sql.intervalsweep.execution.block.EndpointOrder
import org.apache.spark.sql.intervalsweep.execution.index.{
  KeyRange, MinMaxIndex, SortedPoints, WaveletMatrix
}
import org.apache.spark.sql.intervalsweep.execution.runs.BoxSearch

/**
 * Rows sorted by key and endpoint. Keys, expiries and endpoints are also in arrays. For each
 * endpoint there is a min-max index, by which a search skips blocks of rows without a match.
 */
final class SortedRows private (val rows: RowBuffer, fields: RowFields) extends SortedPoints {
  val size: Int = rows.size
  override def numRows: Int = size
  val keys: Array[Long] = column(RowFields.Key)
  val expiries: Array[Long] = column(RowFields.Expiry)
  override val endpoints: Array[Array[Long]] =
    Array.tabulate(fields.endpoints)(k => column(RowFields.FirstEndpoint + k))
  val sorted: Array[Long] = if (fields.endpoints == 0) keys else endpoints(fields.sortedBy)
  private val indexes = endpoints.map(new EndpointIndexes(_))

  /** The rows in the order of their clocks: their row numbers, in a join by row numbers. */
  private[streams] lazy val byNumber: Array[Int] = {
    val clocks = column(RowFields.Clock)
    EndpointOrder.of(groups = null, clocks, size, ties = null)
      .fold(Array.range(0, size))(_.take(size))
  }

  override def minMax(endpoint: Int): MinMaxIndex = indexes(endpoint).blocks
  private[streams] def counts(endpoint: Int): WaveletMatrix = indexes(endpoint).counts

  /** The rows with these numbers, which must be ascending. */
  private[streams] def take(numbers: Array[Int]): SortedRows =
    if (numbers.length == size) this
    else {
      val some = new RowBuffer
      numbers.foreach(i => some.add(rows.data, rows.offset(i), rows.length(i)))
      SortedRows.ofSorted(some, fields)
    }

  private def column(field: Int): Array[Long] = {
    val values = new Array[Long](size)
    var i = 0
    while (i < size) {
      values(i) = fields.number(rows.data, rows.offset(i), field)
      i += 1
    }
    values
  }

  /** Points `row` at row i. */
  def point(row: UnsafeRow, i: Int): UnsafeRow = rows.point(row, i)

  private var ownIndex: AnyRef = _

  /** An index of an operator over the rows, kept as long as they are in memory. */
  private[streams] def index[A <: AnyRef](make: => A): A = {
    if (ownIndex == null) ownIndex = make
    ownIndex.asInstanceOf[A]
  }
}

/** The indexes over the values of an endpoint, each built at its first use. */
private final class EndpointIndexes(values: Array[Long]) {
  lazy val blocks = new MinMaxIndex(values)
  lazy val counts = new WaveletMatrix(values)
}

object SortedRows {

  /** A search for the points of boxes. */
  private[streams] def search(sweep: Sweep, boxes: SortedRows, points: SortedRows): BoxSearch =
    new BoxSearch(sweep, boxes, points, KeyRange.ofSorted(boxes.keys, points.keys))

  /** For rows that are sorted already. */
  def ofSorted(rows: RowBuffer, fields: RowFields): SortedRows = new SortedRows(rows, fields)

  def of(rows: RowBuffer, fields: RowFields): SortedRows = sorted(rows, fields)._1

  /** Sorts rows. The function maps a number after the sort to the number before it. */
  def sorted(rows: RowBuffer, fields: RowFields): (SortedRows, Int => Int) = {
    val unsorted = new SortedRows(rows, fields)
    EndpointOrder.of(groups = null, unsorted.keys, unsorted.size, ties = unsorted.sorted)
      .fold((unsorted, identity[Int] _)) { order =>
        val sorted = RowBuffer.like(Seq(rows))
        order.take(unsorted.size)
          .foreach(i => sorted.add(rows.data, rows.offset(i), rows.length(i)))
        (new SortedRows(sorted, fields), order(_))
      }
  }
}
