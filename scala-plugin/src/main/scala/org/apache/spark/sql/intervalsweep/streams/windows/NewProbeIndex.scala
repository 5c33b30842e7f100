// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The probe rows that are new in a micro-batch, by key and time.
 *
 * @param rows    each with the time as its endpoint
 * @param ofBases a block with their groups, which reads the keys of base rows
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

  /** Each is valid until the next one. */
  def all: Iterator[InternalRow] =
    new BlockRowIterator(block.columns, Array.range(0, block.numRows))

  /** Whether some may be from one time to another. */
  def reach(lower: Long, upper: Long): Boolean = first <= upper && last >= lower

  /** Whether some are in the window of a base row. */
  def areIn(base: InternalRow, lower: Long, upper: Long): Boolean =
    reach(lower, upper) && lower <= upper && ofBases.read(base) && {
      val group = ofBases.group
      group >= 0 && group + 1 < groups.length && {
        val end = groups(group + 1)
        val at = java.util.Arrays.binarySearch(times, groups(group), end, lower)
        // One that is not found is told by where it would be.
        at >= 0 || -at - 1 < end && times(-at - 1) <= upper
      }
    }
}
