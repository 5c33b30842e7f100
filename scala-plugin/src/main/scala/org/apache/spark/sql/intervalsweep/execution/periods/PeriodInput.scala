// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

/** The rows of a task for the worker, in portions that are sorted by group and start. */
private[periods] trait PeriodInput {

  /** The chunk that has the rows of the current portion, and the keys of their groups. */
  def chunk: PeriodChunk

  /** The first row of the portion, and the number of its rows. */
  def from: Int
  def size: Int

  /** True if the last group continues in the next portion. */
  def goesOn: Boolean

  /** Moves to the next portion; false if there are no more rows. */
  def advance(): Boolean
}
