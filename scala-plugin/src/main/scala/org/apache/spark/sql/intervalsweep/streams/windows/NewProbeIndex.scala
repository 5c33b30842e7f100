// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The new probe rows of a micro-batch, sorted by key and time.
 *
 * @param rows    the rows, with their time as the endpoint
 * @param ofBases a block that maps the keys of base rows to the groups of `rows`
 */
private[streams] final class NewProbeIndex(rows: KeyedBlock, ofBases: KeyedBlock) {
  private val block = rows.block
  block.sort()
  private val times = block.endpoints(0)
  private val groups = block.groupOffsets
  private val (first, last) = extent

  private def extent: (Long, Long) = {
    val own = times.iterator.take(block.numRows)
    own.foldLeft((Long.MaxValue, Long.MinValue)) { case ((low, high), t) =>
      (math.min(low, t), math.max(high, t))
    }
  }

  /** All rows. Each row is valid until the next one is read. */
  def all: Iterator[InternalRow] =
    new BlockRowIterator(block.columns, Array.range(0, block.numRows))

  /** Whether rows of any key may have a time from `lower` to `upper`. */
  def reach(lower: Long, upper: Long): Boolean = first <= upper && last >= lower

  /** Whether rows are in the window of a base row: O(log n). */
  def areIn(base: InternalRow, lower: Long, upper: Long): Boolean =
    reach(lower, upper) && lower <= upper && ofBases.read(base) && {
      val group = ofBases.group
      group >= 0 && group + 1 < groups.length && {
        val end = groups(group + 1)
        val at = java.util.Arrays.binarySearch(times, groups(group), end, lower)
        // If the time is not found, the result encodes where to insert it.
        at >= 0 || -at - 1 < end && times(-at - 1) <= upper
      }
    }
}
