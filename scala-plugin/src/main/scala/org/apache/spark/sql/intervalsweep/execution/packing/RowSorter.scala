// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression, SortOrder, SortPrefix, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.execution.{SortPrefixUtils, UnsafeExternalRowSorter}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * Spark's external sort, which spills, by one 64-bit number. Spark's radix sort can do the whole
 * order, since the number is the complete sort key.
 *
 * @param order the number, bound to the rows
 * @param metrics metrics of the node, which count memory and spills
 */
case class RowSorter(schema: StructType, order: SortOrder, metrics: Map[String, SQLMetric]) {
  require(order.dataType == LongType, "rows are sorted by one number")

  def sort(rows: Iterator[UnsafeRow]): Iterator[InternalRow] = {
    val prefixOf = UnsafeProjection.create(Seq[Expression](SortPrefix(order)))
    val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix
    val computer = new UnsafeExternalRowSorter.PrefixComputer {
      override def computePrefix(row: InternalRow)
          : UnsafeExternalRowSorter.PrefixComputer.Prefix = {
        val value = prefixOf(row)
        prefix.isNull = value.isNullAt(0)
        prefix.value = if (prefix.isNull) 0L else value.getLong(0)
        prefix
      }
    }
    val sorter = UnsafeExternalRowSorter.create(
      schema,
      GenerateOrdering.generate(Seq(order)),
      SortPrefixUtils.getPrefixComparator(order),
      computer,
      SparkEnv.get.memoryManager.pageSizeBytes,
      true)
    val taskMetrics = TaskContext.get().taskMetrics()
    val spilledBefore = taskMetrics.memoryBytesSpilled
    val sorted = sorter.sort(rows)
    metrics(SweepMetrics.PeakMemory).add(sorter.getPeakMemoryUsage)
    metrics(SweepMetrics.SpillSize).add(taskMetrics.memoryBytesSpilled - spilledBefore)
    sorted
  }
}
