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
 * @param probeSide the probe side
 * @param input the rows of the probe side, in any order
 * @param groupOf the key groups of those rows; null if the join has no keys
 * @param sortProbe true if a sweep takes the batches as points
 */
final class BroadcastChunks(
    index: BroadcastIndex,
    probeSide: Side,
    input: Iterator[InternalRow],
    override val probe: RowBlock,
    override val leftovers: UnsweptRows,
    groupOf: GroupReader,
    size: ChunkSize,
    sortProbe: Boolean,
    timer: SortTimer,
    override val token: String)
    extends JoinChunks {
  private val hasNoResult = index.block.numRows == 0 && !leftovers.isKept(probeSide)
  private var chunks = 0
  private var passed = 0L

  override def build: RowBlock = index.block
  override def buildChanged: Boolean = chunks == 1
  override def buildEnds: Boolean = false
  override def meetsAll: Boolean = true
  override def probeNumber(row: Int): Long = passed + row

  override def next(): Boolean = {
    passed += probe.numRows
    probe.clear()
    leftovers.clear()
    if (!hasNoResult) fill()
    if (sortProbe && probe.numRows > 0) timer.time(probe.sort())
    chunks += 1
    probe.numRows > 0 || !leftovers.isEmpty
  }

  private def fill(): Unit =
    while (hasRoom && input.hasNext) {
      if (probe.appendBatch(input, size.probeRows - probe.numRows, groupOf) == 0) {
        val row = input.next()
        if (!isTaken(row)) leftovers.add(probeSide, row)
      }
    }

  private def hasRoom: Boolean =
    (probe.numRows == 0 || probe.numRows < size.probeRows && !probe.isFull) &&
      !leftovers.isFull

  private def isTaken(row: InternalRow): Boolean =
    if (groupOf == null) probe.append(row, KeyGroups.NoGroup)
    else {
      val group = groupOf.of(row)
      group != KeyGroups.NoGroup && probe.append(row, group)
    }
}
