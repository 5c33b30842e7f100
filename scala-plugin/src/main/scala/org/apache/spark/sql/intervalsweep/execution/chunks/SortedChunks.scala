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
 * @param sortProbe true if a sweep takes the probe-side rows as points
 * @param spillSize counts the bytes that probe-side rows of large groups take on disk
 */
final class SortedChunks(
    buildInput: SortedInput,
    probeInput: SortedInput,
    override val build: RowBlock,
    override val probe: RowBlock,
    override val leftovers: UnsweptRows,
    size: ChunkSize,
    sortProbe: Boolean,
    timer: SortTimer,
    spillSize: SQLMetric)
    extends JoinChunks {
  private val hasKeys = buildInput.hasKeys
  private var groups = 0
  private var current = KeyGroups.NoGroup
  private var isWithinGroup = false

  /** The last group of the chunk, if its build-side rows are divided into several chunks. */
  private var large: SpilledGroup = _

  /** The number of probe-side rows in earlier chunks, and the number before the large group. */
  private var passed = 0L
  private var beforeLarge = 0L

  private var isNewBuild = true
  override def buildChanged: Boolean = isNewBuild
  override def buildEnds: Boolean = if (large == null) !isWithinGroup else !large.hasNext
  override def settledProbe: Int =
    if (large != null && buildInput.hasHeldRow) large.start else probe.numRows
  override def token: String = ""
  override def meetsAll: Boolean = large == null
  override def probeNumber(row: Int): Long =
    if (large == null || row < large.start) passed + row
    else beforeLarge + large.number(probe, row)

  // The probe side reserves memory first, before the build side takes all of it.
  probe.reserve()

  override def next(): Boolean = {
    if (large != null) leaveLarge()
    passed += probe.numRows
    probe.clear()
    leftovers.clear()
    if (isWithinGroup) continueGroup() else open()
    while (isEmpty && hasMore) open()
    timer.time(sort())
    !isEmpty
  }

  private def sort(): Unit = {
    if (isNewBuild) build.sort()
    if (sortProbe) probe.sort()
    if (large != null) large.restoreMatches(probe)
  }

  private def isEmpty: Boolean =
    build.numRows == 0 && probe.numRows == 0 && leftovers.isEmpty

  /** Reads key groups until the chunk is full. */
  private def open(): Unit = {
    isNewBuild = true
    build.clear()
    probe.clear()
    groups = 0
    isWithinGroup = false
    while (!isWithinGroup && hasRoom && hasMore) takeLeast()
  }

  private def hasRoom: Boolean = hasSpace(build, size.buildRows) &&
    hasSpace(probe, size.probeRows) && !leftovers.isFull

  /** True if there are more rows that may match, or that are emitted without a match. */
  private def hasMore: Boolean = buildInput.hasRow && probeInput.hasRow ||
    buildInput.hasRow && leftovers.isKept(buildInput.side) ||
    probeInput.hasRow && leftovers.isKept(probeInput.side)

  /**
   * Takes the rows of the least key, if both inputs have it. Otherwise one row with that key
   * becomes a leftover.
   */
  private def takeLeast(): Unit = {
    val order = buildInput.compareKey(probeInput)
    if (order < 0) pass(buildInput)
    else if (order > 0) pass(probeInput)
    else {
      if (hasKeys) current = groups
      groups += 1
      probeInput.hold(buildInput.holdKey())
      fillBuild()
      if (buildInput.hasHeldRow) {
        large = new SpilledGroup(probeInput, spillSize)
        beforeLarge = passed + probe.numRows
      }
      fillProbe()
    }
  }

  private def continueGroup(): Unit = {
    isNewBuild = large != null && !large.hasNext
    if (isNewBuild) {
      build.clear()
      fillBuild()
      large.rewind()
    }
    fillProbe()
  }

  private def leaveLarge(): Unit = {
    large.keepMatches(probe)
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
  private def fillBuild(): Unit =
    while (buildInput.hasHeldRow && hasSpace(build, size.groupRows))
      take(buildInput, build, size.groupRows)

  /** Takes the probe-side rows of the same key, as far as there is room. */
  private def fillProbe(): Unit =
    if (large == null) {
      while (probeInput.hasHeldRow && hasSpace(probe, size.probeRows)) {
        take(probeInput, probe, size.probeRows)
      }
      isWithinGroup = probeInput.hasHeldRow
    } else {
      def hasRoomInProbe = hasSpace(probe, size.probeRows)
      large.fill(probe, current, hasRoomInProbe, leftovers.add(probeInput.side, _))
      isWithinGroup = large.hasNext || buildInput.hasHeldRow
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
