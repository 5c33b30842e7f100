// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

/** The rows of a task for the worker: some at a time, by group and start. */
private[periods] trait PeriodInput {

  /** Where the rows are that are sent next, and the keys of their groups. */
  def window: PeriodWindow

  /** The first of them, and how many they are. */
  def from: Int
  def size: Int

  /** Whether the last group has more rows than these. */
  def goesOn: Boolean

  /** Goes on to the next rows; false if there are no more. */
  def advance(): Boolean
}

private[periods] object PeriodInput {

  /**
   * In memory where the task's rows fit; otherwise all of them, sorted by Spark, which spills.
   *
   * @param limits what of time the task looks at; periods are clipped to it
   */
  def apply(
      settings: PeriodSettings,
      rows: Iterator[InternalRow],
      limits: (Long, Long),
      context: TaskContext): PeriodInput = {
    val memory = settings.memory(context)
    def window(mostRows: Int): PeriodWindow =
      new PeriodWindow(2 + settings.numbers.size, mostRows, memory)
    val gathered = new GatheredRows(
      settings,
      rows,
      limits,
      window(PeriodSettings.GatheredBatches * settings.batchRows),
      memory,
      context)
    if (gathered.areAll) gathered
    else {
      val narrow = settings.narrow
      new PeriodRows(
        narrow,
        new HashedRows(narrow, gathered.all, limits, context),
        window(PeriodSettings.MostWindows * settings.windowRows))
    }
  }
}
