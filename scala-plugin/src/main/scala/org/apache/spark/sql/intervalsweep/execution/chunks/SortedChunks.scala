// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.block.{KeyGroups, RowBlock, UnsweptRows}
import org.apache.spark.sql.intervalsweep.execution.metrics.SortTimer

/**
 * The chunks of a task whose two inputs are sorted by their keys. It reads them like a merge join.
 * A chunk has whole key groups of the build side, either many small ones or one large one, and the
 * probe-side rows of these groups. A group with too many probe-side rows takes several chunks:
 *
 * {{{
 *   build side   k1 k1 k2 | k5 k5 k5 k5 k5 | k5 (the same) | k7
 *   probe side   k1 k2 k2 | k5 k5 k5 k5 .. | .. k5 k5      | k7 k7
 *                chunk 1    chunk 2          chunk 3         chunk 4
 * }}}
 *
 * Without keys the whole partition is one group. If the build-side rows of one group do not fit
 * into memory, they are divided into several chunks. All probe-side rows of the group then meet
 * each of these: see [[SpilledGroup]].
 *
 * @param sortStream true if a sweep takes the probe-side rows as points
 * @param spillSize counts the bytes that probe-side rows of large groups take on disk
 */
final class SortedChunks(
    residentInput: SortedInput,
    streamInput: SortedInput,
    override val resident: RowBlock,
    override val stream: RowBlock,
    override val leftovers: UnsweptRows,
    size: ChunkSize,
    sortStream: Boolean,
    timer: SortTimer,
    spillSize: SQLMetric)
    extends JoinChunks {
  private val hasKeys = residentInput.hasKeys
  private var groups = 0
  private var current = KeyGroups.NoGroup
  private var isWithinGroup = false

  /** The last group of the chunk, if its build-side rows are divided into several chunks. */
  private var large: SpilledGroup = _

  /** The number of probe-side rows in earlier chunks, and the number before the large group. */
  private var passed = 0L
  private var beforeLarge = 0L

  private var isNewResident = true
  override def residentChanged: Boolean = isNewResident
  override def residentEnds: Boolean = if (large == null) !isWithinGroup else !large.hasNext
  override def settledStream: Int =
    if (large != null && residentInput.hasHeldRow) large.start else stream.numRows
  override def token: String = ""
  override def meetsAll: Boolean = large == null
  override def streamNumber(row: Int): Long =
    if (large == null || row < large.start) passed + row
    else beforeLarge + large.number(stream, row)

  // The probe side reserves memory first, before the build side takes all of it.
  stream.reserve()

  override def next(): Boolean = {
    if (large != null) leaveLarge()
    passed += stream.numRows
    stream.clear()
    leftovers.clear()
    if (isWithinGroup) continueGroup() else open()
    while (isEmpty && hasMore) open()
    timer.time(sort())
    !isEmpty
  }

  private def sort(): Unit = {
    if (isNewResident) resident.sort()
    if (sortStream) stream.sort()
    if (large != null) large.restoreMatches(stream)
  }

  private def isEmpty: Boolean =
    resident.numRows == 0 && stream.numRows == 0 && leftovers.isEmpty

  /** Reads key groups until the chunk is full. */
  private def open(): Unit = {
    isNewResident = true
    resident.clear()
    stream.clear()
    groups = 0
    isWithinGroup = false
    while (!isWithinGroup && hasRoom && hasMore) takeLeast()
  }

  private def hasRoom: Boolean = hasSpace(resident, size.residentRows) &&
    hasSpace(stream, size.streamRows) && !leftovers.isFull

  /** True if there are more rows that may match, or that are emitted without a match. */
  private def hasMore: Boolean = residentInput.hasRow && streamInput.hasRow ||
    residentInput.hasRow && leftovers.isKept(residentInput.side) ||
    streamInput.hasRow && leftovers.isKept(streamInput.side)

  /**
   * Takes the rows of the least key, if both inputs have it. Otherwise one row with that key
   * becomes a leftover.
   */
  private def takeLeast(): Unit = {
    val order = residentInput.compareKey(streamInput)
    if (order < 0) pass(residentInput)
    else if (order > 0) pass(streamInput)
    else {
      if (hasKeys) current = groups
      groups += 1
      streamInput.hold(residentInput.holdKey())
      fillResident()
      if (residentInput.hasHeldRow) {
        large = new SpilledGroup(streamInput, spillSize)
        beforeLarge = passed + stream.numRows
      }
      fillStream()
    }
  }

  private def continueGroup(): Unit = {
    isNewResident = large != null && !large.hasNext
    if (isNewResident) {
      resident.clear()
      fillResident()
      large.rewind()
    }
    fillStream()
  }

  private def leaveLarge(): Unit = {
    large.keepMatches(stream)
    if (!isWithinGroup) {
      large.clear()
      large = null
    }
  }

  private def pass(input: SortedInput): Unit = {
    leftovers.add(input.side, input.row)
    input.advance()
  }

  /** Takes the build-side rows of the current key, as far as there is room. */
  private def fillResident(): Unit =
    while (residentInput.hasHeldRow && hasSpace(resident, size.groupRows))
      take(residentInput, resident, size.groupRows)

  /** Takes the probe-side rows of the same key, as far as there is room. */
  private def fillStream(): Unit =
    if (large == null) {
      while (streamInput.hasHeldRow && hasSpace(stream, size.streamRows)) {
        take(streamInput, stream, size.streamRows)
      }
      isWithinGroup = streamInput.hasHeldRow
    } else {
      def hasRoomInStream = hasSpace(stream, size.streamRows)
      large.fill(stream, current, hasRoomInStream, leftovers.add(streamInput.side, _))
      isWithinGroup = large.hasNext || residentInput.hasHeldRow
    }

  /** True if a block has room. An empty block takes a row in any case. */
  private def hasSpace(block: RowBlock, limit: Int): Boolean =
    block.numRows == 0 || block.numRows < limit && !block.isFull

  /** Takes the current row, and up to a limit the rows that follow it in a batch. */
  private def take(input: SortedInput, block: RowBlock, limit: Int): Unit = {
    if (!block.append(input.row, current)) leftovers.add(input.side, input.row)
    if (!hasKeys && block.numRows < limit && !block.isFull)
      input.appendBatch(block, limit - block.numRows)
    input.advance()
  }
}
