// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * The rows of a block that are emitted unpaired, that is without a row of the other side. They come
 * as runs of consecutive rows.
 *
 * @param rows the number of rows of the block, from the first one on, that are looked at
 * @param outcome true to emit the rows with a match, false to emit those without
 */
final class UnpairedRows(val side: Side, val block: RowBlock, rows: Int, val outcome: Boolean) {
  private val copies = block.copies
  private var start = 0
  private var end = 0

  def first: Int = start
  def count: Int = end - start

  /** Moves to the next run; false after the last one. */
  def advance(): Boolean = {
    start = end
    while (start < rows && !isWanted(start)) start += 1
    end = start
    while (end < rows && isWanted(end)) end += 1
    start < end
  }

  /**
   * True if the row is emitted. No single range can decide about a row that is in several ranges:
   * see [[ReplicatedRows]].
   */
  private def isWanted(i: Int): Boolean =
    block.matched.get(i) == outcome && (copies == null || copies(i) == 1)
}

/**
 * Rows that can match nothing, such as rows with a NULL endpoint, and are therefore in no chunk.
 * They are kept for the sides whose unmatched rows are emitted.
 *
 * @param limit the number of rows that makes a chunk full
 */
final class UnsweptRows(blocks: Map[Side, RowBlock], limit: Int) {
  private val kept = blocks.values.toArray

  /** The rows of a side, if they are kept. */
  def of(side: Side): Option[RowBlock] = blocks.get(side)

  def add(side: Side, row: InternalRow): Unit =
    blocks.get(side).foreach(_.append(row, KeyGroups.NoGroup))

  def isKept(side: Side): Boolean = blocks.contains(side)
  def isEmpty: Boolean = blocks.values.forall(_.numRows == 0)

  /** True if the rows of a side fill a chunk. Called for each row. */
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
