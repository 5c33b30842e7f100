// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.intervalsweep.execution.block.RowBlock

/** The windows of the rows of a block. */
private[streams] final class WindowEnds(
    lowers: Array[Long],
    lowerOffset: Long,
    uppers: Array[Long],
    upperOffset: Long) {
  def lower(i: Int): Long = lowers(i) + lowerOffset
  def upper(i: Int): Long = uppers(i) + upperOffset
}

/**
 * The probe rows in the window of each base row, as runs of the sorted block of probe rows. Both
 * blocks are sorted by group and time, so that both ends of the windows go on with the base rows.
 */
private[streams] final class WindowRuns(base: RowBlock, probe: RowBlock, ends: WindowEnds) {
  val first: Array[Int] = new Array[Int](base.numRows)
  val count: Array[Int] = new Array[Int](base.numRows)

  /** How many rows there are in a window at most. */
  def most: Double = if (count.isEmpty) 0 else count.max.toDouble

  private val offsets = probe.groupOffsets
  private val times = probe.endpoints(0)
  fill()

  private def fill(): Unit = {
    var group = -1
    var (start, end, low, high) = (0, 0, 0, 0)
    var i = 0
    while (i < first.length) {
      val own = if (base.groups == null) 0 else base.groups(i)
      if (own != group) {
        group = own
        start = if (group < offsets.length) offsets(group) else probe.numRows
        end = if (group + 1 < offsets.length) offsets(group + 1) else start
        low = start
        high = start
      }
      low = moved(low, start, end, ends.lower(i))
      high = moved(high, start, end, ends.upper(i), 1)
      first(i) = low
      count(i) = math.max(0, high - low)
      i += 1
    }
  }

  /** The first row with a time of at least `bound`, or above it with `beyond` 1, from `from` on. */
  private def moved(from: Int, start: Int, end: Int, bound: Long, beyond: Int = 0): Int = {
    val least = if (beyond == 0) bound else if (bound == Long.MaxValue) bound else bound + 1
    var at = from
    while (at > start && times(at - 1) >= least) at -= 1
    while (at < end && times(at) < least) at += 1
    at
  }
}
