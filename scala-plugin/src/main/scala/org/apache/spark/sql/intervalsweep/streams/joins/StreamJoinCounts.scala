// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/** Counts the rows that a partition of a join drops, evicts and stores in a micro-batch. */
final class StreamJoinCounts {

  /** Late rows, by their event time or by their number. */
  var late = 0L

  /** Rows that end before they start, if the bound on state relies on ordered endpoints. */
  var reversed = 0L

  /** Rows that are longer than `max_length`. */
  var tooLong = 0L

  /** Rows that were evicted, or were done and therefore removed. */
  var expired = 0L

  /** Rows in the state, including those that are done and not yet removed. */
  var stored = 0L
  var storedRuns = 0L

  def row: InternalRow = InternalRow(late, reversed, tooLong, expired, stored, storedRuns)
}

object StreamJoinCounts {

  /** The names of the counts in the query's progress. */
  val schema: StructType =
    StructType(
      Seq("lateRows", "reversedRows", "longRows", "expiredRows", "storedRows", "storedRuns").map {
        StructField(_, LongType, nullable = false)
      })
}
