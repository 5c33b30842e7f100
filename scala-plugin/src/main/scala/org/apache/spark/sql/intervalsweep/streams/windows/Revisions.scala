// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, BlockRow, IntColumn, RowBlock
}
import org.apache.spark.sql.types.BooleanType

/**
 * The revision numbers of the base rows of a block, and whether a revision is final.
 *
 * @param ordinal the column with the revision number
 */
private[streams] final class Revisions(block: RowBlock, ordinal: Int) {
  private val row = BlockRow(block.columns)
  private val revision = block.columns(ordinal).asInstanceOf[IntColumn]
  private val last = BlockColumn(BooleanType).asInstanceOf[IntColumn]
  last.grow(block.numRows)

  def columns: Array[BlockColumn] = Array(revision, last)

  /** Numbers the next revision of row i. */
  def raise(i: Int, isFinal: Boolean): Unit = {
    revision.values(i) += 1
    last.values(i) = if (isFinal) 1 else 0
  }

  /** Row i, valid until the next call. */
  def at(i: Int): InternalRow = {
    row.position = i
    row
  }
}
