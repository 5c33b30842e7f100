// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/** What a partition of a join drops in a micro-batch, and what it keeps then. */
final class StreamJoinCounts {

  /** Rows that come too late, by their time or by their number. */
  var late = 0L

  /** Rows that end before they start, where the bound on state rests on there being none. */
  var reversed = 0L

  /** Rows that are longer than `max_length`. */
  var tooLong = 0L

  /** Rows that have left the state. */
  var expired = 0L

  /** Rows of the state, those included that are done and not yet removed. */
  var stored = 0L
  var storedRuns = 0L

  def row: InternalRow = InternalRow(late, reversed, tooLong, expired, stored, storedRuns)
}

object StreamJoinCounts {

  /** Under these names they are in the progress of the query. */
  val schema: StructType =
    StructType(
      Seq("lateRows", "reversedRows", "longRows", "expiredRows", "storedRows", "storedRuns").map {
        StructField(_, LongType, nullable = false)
      })
}
