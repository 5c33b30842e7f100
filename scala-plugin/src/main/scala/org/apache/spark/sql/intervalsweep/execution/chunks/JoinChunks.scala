// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import org.apache.spark.sql.intervalsweep.execution.block.{RowBlock, UnsweptRows}

/**
 * A join in chunks that fit into memory. A chunk has some rows of the build side (`build`) and
 * some rows of the probe side (`probe`). Every pair of rows with equal keys is together in exactly
 * one chunk.
 */
trait JoinChunks {

  /** Moves to the next chunk; false after the last one. A side of a chunk may be empty. */
  def next(): Boolean

  /** The rows of the build side, sorted by (group, sort endpoint). */
  def build: RowBlock

  /**
   * The rows of the probe side, sorted by (group, sort endpoint) if a sweep takes them as points.
   */
  def probe: RowBlock

  /** Rows that were read since the previous chunk, and that are in no chunk. */
  def leftovers: UnsweptRows

  /** True if the build side has other rows than in the previous chunk. */
  def buildChanged: Boolean

  /** True if no later chunk has the build-side rows of this chunk. */
  def buildEnds: Boolean

  /**
   * True if the probe-side rows meet in this chunk all build-side rows that they meet in any chunk.
   */
  def meetsAll: Boolean = false

  /** The number of a probe-side row. It is unique in the task, and the same in all chunks. */
  def probeNumber(row: Int): Long = throw new UnsupportedOperationException

  /** The number of probe-side rows, from the first one on, that are in no later chunk. */
  def settledProbe: Int = probe.numRows

  /** The name by which a worker may keep the build side for later tasks; empty if it must not. */
  def token: String
}

/**
 * The number of rows that a chunk collects at most.
 *
 * @param buildRows build-side rows, in whole key groups
 * @param groupRows build-side rows of one group that is larger than `buildRows`
 */
case class ChunkSize(buildRows: Int, probeRows: Int, groupRows: Int)
