// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * Goes through the rows of a block that leave the join alone, as runs of rows next to each other.
 *
 * @param rows how many rows of the block, the first ones, are to be looked at
 * @param outcome whether those with a match are wanted, or those without
 */
final class UnpairedRows(val side: Side, val block: RowBlock, rows: Int, val outcome: Boolean) {
  private val copies = block.copies
  private var start = 0
  private var end = 0

  def first: Int = start
  def count: Int = end - start

  /** Goes on to the next run; false after the last one. */
  def advance(): Boolean = {
    start = end
    while (start < rows && !isWanted(start)) start += 1
    end = start
    while (end < rows && isWanted(end)) end += 1
    start < end
  }

  /** A row that is in several ranges cannot be judged in one of them: see [[ReplicatedRows]]. */
  private def isWanted(i: Int): Boolean =
    block.matched.get(i) == outcome && (copies == null || copies(i) == 1)
}

/**
 * Rows that are in no chunk because they can match nothing, such as those with a NULL endpoint,
 * of the sides whose rows are emitted nevertheless.
 *
 * @param limit how many make a chunk full
 */
final class UnsweptRows(blocks: Map[Side, RowBlock], limit: Int) {
  private val kept = blocks.values.toArray

  /** The rows of a side, if they are kept. */
  def of(side: Side): Option[RowBlock] = blocks.get(side)

  def add(side: Side, row: InternalRow): Unit =
    blocks.get(side).foreach(_.append(row, KeyGroups.NoGroup))

  def isKept(side: Side): Boolean = blocks.contains(side)
  def isEmpty: Boolean = blocks.values.forall(_.numRows == 0)

  /** Asked for each row. */
  def isFull: Boolean = {
    var i = 0
    while (i < kept.length && kept(i).numRows < limit && !kept(i).isFull) i += 1
    i < kept.length
  }
  def clear(): Unit = blocks.values.foreach(_.clear())
}

object UnsweptRows {
  val none: UnsweptRows = new UnsweptRows(Map.empty, 0)
}
