// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/** Counts the rows that a partition drops, evicts and stores in a micro-batch. */
final class HistoryCounts {

  /** Rows that start at or before the watermark of the previous micro-batch. */
  var late = 0L

  /** Rows that have left the state, as their periods have ended. */
  var expired = 0L

  /** Rows in the state. */
  var stored = 0L

  /** Rows in the state whose periods have no end. */
  var open = 0L

  def row: InternalRow = InternalRow(late, expired, stored, open)
}

object HistoryCounts {

  /** The names of the counts in the query's progress. */
  val schema: StructType =
    StructType(Seq("lateRows", "expiredRows", "storedRows", "openRows").map {
      StructField(_, LongType, nullable = false)
    })
}
