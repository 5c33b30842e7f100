// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.streams.state.TimeBuckets
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/** The counts of a partition for a micro-batch. */
final class StreamCounts {
  var late = 0L
  var expired = 0L
  var revisions = 0L

  /** The number of stored probe rows that were read. */
  var read = 0L
}

object StreamCounts {

  /** The names of the counts in the query's progress. */
  val schema: StructType = {
    val names =
      Seq("lateRows", "expiredRows", "revisions", "storedRows", "storedBuckets", "readRows")
    StructType(names.map(StructField(_, LongType, nullable = false)))
  }

  /** @param store the store whose size is reported, if the row reports one */
  private[streams] def row(counts: StreamCounts, store: Option[TimeBuckets]): InternalRow =
    InternalRow(
      counts.late,
      counts.expired,
      counts.revisions,
      store.fold(0L)(_.numRows),
      store.fold(0L)(_.numBuckets.toLong),
      counts.read)
}
