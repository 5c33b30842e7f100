// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.execution.block.{BlockLayout, RowBlock, TaskMemory}
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide

/**
 * The base rows of a partition that a micro-batch is about.
 *
 * @param ends the columns that have an end of their windows, where one has
 */
private[streams] final class BaseSideBuffer(
    base: StreamSide,
    ends: Seq[Attribute],
    probe: StreamSide,
    memory: TaskMemory) {
  private val layout = BaseSideBuffer.layout(base, base.time +: ends)
  private val probeLayout = BaseSideBuffer.layout(probe, Seq(probe.time))

  val block = new RowBlock(layout, memory)
  val keyed: KeyedBlock = keyedBlock(base, block, None)

  /** Those without a window, for want of a key or a time. */
  val withoutWindow = new RowBlock(layout.withoutEndpoints, memory)

  /** Goes on to a row; says whether there are probe rows that it can match. */
  def hasWindow(row: InternalRow): Boolean =
    !row.isNullAt(base.timeOrdinal) && keyed.read(row)

  /** Rows of the probe side, of those keys only that base rows have. */
  def partners(): KeyedBlock = ofProbe(Some(keyed))

  /** Rows of the probe side of all keys. */
  def allProbes(): KeyedBlock = ofProbe(None)

  private def ofProbe(others: Option[KeyedBlock]): KeyedBlock =
    keyedBlock(probe, new RowBlock(probeLayout, memory), others)

  /** Reads of base rows the groups of some probe rows. */
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
