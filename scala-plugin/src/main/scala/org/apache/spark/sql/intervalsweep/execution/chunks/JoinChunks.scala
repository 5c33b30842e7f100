// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import org.apache.spark.sql.intervalsweep.execution.block.{RowBlock, UnsweptRows}

/**
 * A join cut into pieces that fit into memory: in each, some rows of the side that stays (the
 * resident) and some of the side that passes by (the stream). The pieces together hold every pair
 * of rows with equal keys exactly once.
 */
trait JoinChunks {

  /** Goes on to the next piece; false after the last one. A side of a piece may be empty. */
  def next(): Boolean

  /** Sorted by (group, sort endpoint). */
  def resident: RowBlock

  /** Sorted by (group, sort endpoint) where a sweep takes its rows as points. */
  def stream: RowBlock

  /** Rows that came by since the piece before and are in none. */
  def leftovers: UnsweptRows

  /** Whether the resident rows are others than in the piece before. */
  def residentChanged: Boolean

  /** Whether they are others in the piece after. */
  def residentEnds: Boolean

  /** Whether the stream's rows meet here all resident rows that they meet in any piece. */
  def meetsAll: Boolean = false

  /** The number of a row of the stream: another one for each row, the same in all pieces. */
  def streamNumber(row: Int): Long = throw new UnsupportedOperationException

  /** How many of the stream's rows, the first ones, are in no later piece. */
  def settledStream: Int = stream.numRows

  /** Under what name a worker may keep the resident rows for later tasks; empty: under none. */
  def token: String
}

/**
 * How many rows a chunk collects before it is swept.
 *
 * @param residentRows resident rows, of whole key groups
 * @param groupRows resident rows of one group, if it is larger than that
 */
case class ChunkSize(residentRows: Int, streamRows: Int, groupRows: Int)
