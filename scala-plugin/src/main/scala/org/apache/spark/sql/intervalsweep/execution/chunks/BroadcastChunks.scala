// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{
  GroupReader, KeyGroups, RowBlock, UnsweptRows
}
import org.apache.spark.sql.intervalsweep.execution.metrics.SortTimer

/**
 * The chunks of a join with a broadcast side. Each chunk has the whole broadcast side, which is the
 * build side, and a batch of rows of the other side, the probe side.
 *
 * @param index the broadcast side
 * @param streamed the probe side
 * @param input the rows of the probe side, in any order
 * @param groupOf the key groups of those rows; null if the join has no keys
 * @param sortStream true if a sweep takes the batches as points
 */
final class BroadcastChunks(
    index: BroadcastIndex,
    streamed: Side,
    input: Iterator[InternalRow],
    override val stream: RowBlock,
    override val leftovers: UnsweptRows,
    groupOf: GroupReader,
    size: ChunkSize,
    sortStream: Boolean,
    timer: SortTimer,
    override val token: String)
    extends JoinChunks {
  private val hasNoResult = index.block.numRows == 0 && !leftovers.isKept(streamed)
  private var chunks = 0
  private var passed = 0L

  override def resident: RowBlock = index.block
  override def residentChanged: Boolean = chunks == 1
  override def residentEnds: Boolean = false
  override def meetsAll: Boolean = true
  override def streamNumber(row: Int): Long = passed + row

  override def next(): Boolean = {
    passed += stream.numRows
    stream.clear()
    leftovers.clear()
    if (!hasNoResult) fill()
    if (sortStream && stream.numRows > 0) timer.time(stream.sort())
    chunks += 1
    stream.numRows > 0 || !leftovers.isEmpty
  }

  private def fill(): Unit =
    while (hasRoom && input.hasNext) {
      if (stream.appendBatch(input, size.streamRows - stream.numRows, groupOf) == 0) {
        val row = input.next()
        if (!isTaken(row)) leftovers.add(streamed, row)
      }
    }

  private def hasRoom: Boolean =
    (stream.numRows == 0 || stream.numRows < size.streamRows && !stream.isFull) &&
      !leftovers.isFull

  private def isTaken(row: InternalRow): Boolean =
    if (groupOf == null) stream.append(row, KeyGroups.NoGroup)
    else {
      val group = groupOf.of(row)
      group != KeyGroups.NoGroup && stream.append(row, group)
    }
}
