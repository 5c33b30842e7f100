// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.packing.RowPacker

/** Packs the rows that a micro-batch adds to a time bucket, and tracks their event times. */
private[streams] final class TimeBucketWriter(numFields: Int) {
  val packer = new RowPacker(numFields)
  var minTime: Long = Long.MaxValue
  var maxTime: Long = Long.MinValue

  def add(row: InternalRow, time: Long): Unit = {
    packer.add(row)
    minTime = math.min(minTime, time)
    maxTime = math.max(maxTime, time)
  }
}
