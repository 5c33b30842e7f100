// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.execution.block.{BlockLayout, RowBlock, TaskMemory}
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide

/**
 * The base rows of a partition that a micro-batch emits.
 *
 * @param ends the columns with computed ends of windows, if there are any
 */
private[streams] final class BaseSideBuffer(
    base: StreamSide,
    ends: Seq[Attribute],
    probe: StreamSide,
    ties: Seq[SortOrder],
    memory: TaskMemory) {
  private val layout = BaseSideBuffer.layout(base, base.time +: ends)
  private val probeLayout = BaseSideBuffer.layout(probe, Seq(probe.time)).copy(ties = ties)

  val block = new RowBlock(layout, memory)
  val keyed: KeyedBlock = keyedBlock(base, block, None)

  /** The rows without a window, because a key or the time is NULL. */
  val withoutWindow = new RowBlock(layout.withoutEndpoints, memory)

  /** Reads a row; returns whether it can match probe rows. */
  def hasWindow(row: InternalRow): Boolean =
    !row.isNullAt(base.timeOrdinal) && keyed.read(row)

  /** An empty block for probe rows, which takes only keys that base rows have. */
  def partners(): KeyedBlock = ofProbe(Some(keyed))

  /** An empty block for probe rows of all keys. */
  def allProbes(): KeyedBlock = ofProbe(None)

  private def ofProbe(others: Option[KeyedBlock]): KeyedBlock =
    keyedBlock(probe, new RowBlock(probeLayout, memory), others)

  /** A block that maps the keys of base rows to the groups of these probe rows. */
  def like(probes: KeyedBlock): KeyedBlock =
    keyedBlock(base, new RowBlock(layout, memory), Some(probes))

  private def keyedBlock(
      side: StreamSide,
      block: RowBlock,
      others: Option[KeyedBlock]): KeyedBlock =
    new KeyedBlock(block, side.keys, side.columns, others)
}

private object BaseSideBuffer {
  private def layout(side: StreamSide, endpoints: Seq[Attribute]): BlockLayout =
    BlockLayout(side.columns, side.columns, endpoints.map(EncodedEndpoint(_)), sortEndpoint = 0)
}
