// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.intervalsweep.execution.metrics.{SortTimer, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.packing.RowSorter

/**
 * The rows of a task in the order of the hash of their keys, one after another.
 *
 * @param limits the section of time that the task processes; periods are clipped to it
 */
private[periods] final class HashedRows(
    settings: PeriodSettings,
    rows: Iterator[InternalRow],
    limits: (Long, Long),
    context: TaskContext) {
  private val hasKeys = settings.keys.nonEmpty
  private val hashOf =
    BindReferences.bindReference[Expression](new XxHash64(settings.keys), settings.columns.input)
  private val hashed = UnsafeProjection.create(Seq(hashOf))
  private val columns = new KeyReader(settings.columns, limits)
  private val sorted = if (hasKeys) sortedByHash() else rows
  private var row: InternalRow = _
  private var read = 0L

  /** The hash of the next row's keys. */
  var hash = 0L

  def hasNext: Boolean = row != null || sorted.hasNext && {
    row = sorted.next()
    if (hasKeys) hash = hashed(row).getLong(0)
    read += 1
    if (read % HashedRows.RowsPerCheck == 0) context.killTaskIfInterrupted()
    true
  }

  /** The keys of the next row; the object may be reused for every row. */
  def keys: UnsafeRow = columns.keys(row)

  /** Takes the row. [[number]] then gives its start, its end, and its other numbers. */
  def take(): Unit = {
    columns.take(row)
    row = null
  }

  def number: Int => Long = columns.number

  private def sortedByHash(): Iterator[InternalRow] = {
    val project = UnsafeProjection.create(settings.columns.input.map(_.dataType).toArray)
    val unsafe = rows.map {
      case row: UnsafeRow => row
      case row => project(row)
    }
    val schema = DataTypeUtils.fromAttributes(settings.columns.input)
    val sorter = RowSorter(schema, SortOrder(hashOf, Ascending), settings.metrics)
    new SortTimer(settings.metrics(SweepMetrics.SortTime)).time(sorter.sort(unsafe))
  }
}

private object HashedRows {
  private val RowsPerCheck = 1 << 12
}
