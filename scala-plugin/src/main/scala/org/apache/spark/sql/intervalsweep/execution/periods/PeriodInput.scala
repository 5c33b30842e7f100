// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

/** The rows of a task for the worker: some at a time, by group and start. */
private[periods] trait PeriodInput {

  /** Where the rows are that are sent next, and the keys of their groups. */
  def chunk: PeriodChunk

  /** The first of them, and how many they are. */
  def from: Int
  def size: Int

  /** Whether the last group has more rows than these. */
  def goesOn: Boolean

  /** Goes on to the next rows; false if there are no more. */
  def advance(): Boolean
}
