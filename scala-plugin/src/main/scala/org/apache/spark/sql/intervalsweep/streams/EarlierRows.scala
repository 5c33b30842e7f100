// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.unsafe.Platform

/**
 * How a side's packed rows were kept by a query that had fewer columns of it:
 * {{{
 *   kept then    flags key clock expiry endpoints  id  ts  te
 *   wanted       flags key clock expiry endpoints  id  ts  te  added     which is NULL in those rows
 * }}}
 *
 * @param fields how many fields a row had
 * @param taken  how many of them, from the first one on, are as they are now
 */
case class EarlierRows(fields: Int, taken: Int) {

  /** Rows that were kept as rows that are wanted, in the same order. */
  def grown(rows: RowBytes, wanted: Seq[Attribute]): RowBytes = {
    val project = FewerColumns.projection(0 until taken, wanted.map(_.dataType))
    val row = new UnsafeRow(fields)
    val grown = new RowBytes
    (0 until rows.size).foreach { i =>
      row.pointTo(rows.data, Platform.BYTE_ARRAY_OFFSET.toLong + rows.offset(i), rows.length(i))
      grown.add(project(row).getBytes)
    }
    grown
  }
}
