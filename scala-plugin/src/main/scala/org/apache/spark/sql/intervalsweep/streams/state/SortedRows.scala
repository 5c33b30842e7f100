// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.execution.block.EndpointOrder
import org.apache.spark.sql.intervalsweep.execution.index.{MinMaxIndex, WaveletMatrix}
import org.apache.spark.unsafe.Platform

/**
 * Rows in order of key and endpoint, with their numbers in arrays, and for each endpoint the least
 * and the greatest of each block of rows: what a search need not look at.
 */
final class SortedRows private (val rows: RowBuffer, fields: RowFields) {
  val size: Int = rows.size
  val keys: Array[Long] = column(RowFields.Key)
  val expiries: Array[Long] = column(RowFields.Expiry)
  val endpoints: Array[Array[Long]] =
    Array.tabulate(fields.endpoints)(k => column(RowFields.FirstEndpoint + k))
  val sorted: Array[Long] = if (fields.endpoints == 0) keys else endpoints(fields.sortedBy)
  private val indexes = endpoints.map(new EndpointIndexes(_))

  def blocks(endpoint: Int): MinMaxIndex = indexes(endpoint).blocks
  private[streams] def counts(endpoint: Int): WaveletMatrix = indexes(endpoint).counts

  /** Some of the rows, whose numbers are in order. */
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

  /** Lets a row be row i. */
  def point(row: UnsafeRow, i: Int): UnsafeRow = {
    row.pointTo(rows.data, Platform.BYTE_ARRAY_OFFSET.toLong + rows.offset(i), rows.length(i))
    row
  }
}

/** What the values of an endpoint are looked up by, each made when it is first asked for. */
private final class EndpointIndexes(values: Array[Long]) {
  lazy val blocks = new MinMaxIndex(values)
  lazy val counts = new WaveletMatrix(values)
}

object SortedRows {

  /** Of rows that are in order. */
  def ofSorted(rows: RowBuffer, fields: RowFields): SortedRows = new SortedRows(rows, fields)

  def of(rows: RowBuffer, fields: RowFields): SortedRows = sorted(rows, fields)._1

  /** Rows in order, and for each the number that it had before. */
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
