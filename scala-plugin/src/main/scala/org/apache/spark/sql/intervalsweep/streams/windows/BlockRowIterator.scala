// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, BlockRow}

/** Iterates over some rows of a block's columns. Each row is valid until the next one is read. */
private[streams] final class BlockRowIterator(columns: Array[BlockColumn], rows: Array[Int])
    extends Iterator[InternalRow] {
  private val row = BlockRow(columns)
  private var taken = 0

  override def hasNext: Boolean = taken < rows.length

  override def next(): InternalRow = {
    row.position = rows(taken)
    taken += 1
    row
  }
}
