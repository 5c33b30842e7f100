// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, IntColumn, RowBlock}
import org.apache.spark.sql.types.BooleanType

/**
 * How often the base rows of a block have come out, and whether that was the last time.
 *
 * @param ordinal the column that counts it
 */
private[streams] final class Revisions(block: RowBlock, ordinal: Int) {
  private val row = new BlockRow(block.columns)
  private val revision = block.columns(ordinal).asInstanceOf[IntColumn]
  private val last = BlockColumn(BooleanType).asInstanceOf[IntColumn]
  last.grow(block.numRows)

  def columns: Array[BlockColumn] = Array(revision, last)

  /** The row comes out once more. */
  def raise(i: Int, isFinal: Boolean): Unit = {
    revision.values(i) += 1
    last.values(i) = if (isFinal) 1 else 0
  }

  /** Valid until the next one. */
  def at(i: Int): InternalRow = {
    row.at = i
    row
  }
}
