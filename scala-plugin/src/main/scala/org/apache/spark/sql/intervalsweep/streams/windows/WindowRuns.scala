// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.intervalsweep.condition.expiry.WindowEnd
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock

/** The lower and upper ends of the windows of a block's rows, both inclusive. */
private[streams] final class WindowEnds(
    lowers: Array[Long],
    lowerOffset: Long,
    uppers: Array[Long],
    upperOffset: Long) {
  def lower(i: Int): Long = WindowEnd.at(lowers(i), lowerOffset)
  def upper(i: Int): Long = uppers(i) + upperOffset
}

/** For each base row, consecutive rows of a sorted block: `count(i)` rows from `first(i)` on. */
private[streams] final class WindowRuns(val first: Array[Int], val count: Array[Int]) {

  /** The largest number of rows in a window. */
  def most: Double = if (count.isEmpty) 0 else count.max.toDouble
}

private[streams] object WindowRuns {

  /**
   * The probe rows in the window of each base row. Both blocks are sorted by group and time, so
   * both ends of the windows move forward with the base rows: O(base rows + probe rows). Computed
   * ends may also move back a little.
   */
  def of(base: RowBlock, probe: RowBlock, ends: WindowEnds): WindowRuns = {
    val first = new Array[Int](base.numRows)
    val count = new Array[Int](base.numRows)
    val offsets = probe.groupOffsets
    val times = probe.endpoints(0)
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
      low = moved(times, low, start, end, ends.lower(i))
      high = moved(times, high, start, end, ends.upper(i), 1)
      first(i) = low
      count(i) = math.max(0, high - low)
      i += 1
    }
    new WindowRuns(first, count)
  }

  /** An empty run for each row of a block. */
  def empty(base: RowBlock): WindowRuns =
    new WindowRuns(new Array[Int](base.numRows), new Array[Int](base.numRows))

  /** All rows of each group of a sorted block. */
  def ofGroups(block: RowBlock): WindowRuns = {
    val offsets = block.groupOffsets
    val groups = offsets.length - 1
    new WindowRuns(
      java.util.Arrays.copyOf(offsets, groups),
      Array.tabulate(groups)(g => offsets(g + 1) - offsets(g)))
  }

  /**
   * The first row of a group with a time of at least `bound`, or above `bound` if `beyond` is 1.
   * The search starts at `from` and moves either way.
   */
  private def moved(
      times: Array[Long],
      from: Int,
      start: Int,
      end: Int,
      bound: Long,
      beyond: Int = 0): Int = {
    val least = if (beyond == 0) bound else if (bound == Long.MaxValue) bound else bound + 1
    var at = from
    while (at > start && times(at - 1) >= least) at -= 1
    while (at < end && times(at) < least) at += 1
    at
  }
}
