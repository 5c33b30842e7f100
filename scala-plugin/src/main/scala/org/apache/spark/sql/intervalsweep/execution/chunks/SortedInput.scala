// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{RowBlock, RowKeys}

/** The rows of one side, sorted by keys. */
final class SortedInput(
    val side: Side,
    rows: Iterator[InternalRow],
    keys: Seq[Expression],
    val columns: Seq[Attribute]) {
  val hasKeys: Boolean = keys.nonEmpty
  private val key = if (hasKeys) RowKeys.of(keys, columns) else null
  private val own = if (hasKeys) RowKeys.of(keys, columns) else null
  private var held = own
  var row: InternalRow = _
  advance()

  def hasRow: Boolean = row != null

  /** Adds the rows behind the current one to a block, as far as they come in a batch. */
  def appendBatch(block: RowBlock, most: Int): Unit =
    block.appendBatch(rows, most, groupOf = null)

  def advance(): Unit = {
    row = if (rows.hasNext) rows.next() else null
    if (hasKeys && hasRow) key.read(row)
  }

  /**
   * Negative if the other input has no more rows with the key of this row, positive if this input
   * has no more rows with the key of the other input's row, and 0 if both keys are equal. NULL
   * equals nothing.
   */
  def compareKey(other: SortedInput): Int =
    if (!other.hasRow) -1
    else if (!hasRow) 1
    else if (!hasKeys) 0
    else if (key.anyNull) -1
    else if (other.key.anyNull) 1
    else key.compare(other.key)

  /** Keeps the current key, to detect the end of its group. */
  def holdKey(): RowKeys = {
    if (hasKeys) own.set(key)
    hold(own)
    own
  }

  /** Makes the rows with this key, which the other input keeps, the current group. */
  def hold(key: RowKeys): Unit = held = key

  def hasHeldRow: Boolean = hasRow && (!hasKeys || key.compare(held) == 0)
}
