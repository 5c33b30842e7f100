// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.RowSorter

/**
 * The best `count` pairs of each left row, from the best ones of several chunks of right rows.
 *
 * @param order over the columns of a pair; the best pairs come first
 */
case class PartialMatches(
    count: Int,
    order: Seq[SortOrder],
    partialRowId: Attribute,
    input: Seq[Attribute],
    metrics: Map[String, SQLMetric])
    extends PartialRows {
  override def ofOne: Seq[Expression] = input.filter(_.exprId != partialRowId.exprId)
  override def open(): PartialRowMerger = new MatchMerger(this)
}

/**
 * Stores partial rows, spills them if necessary, and merges them after the last one: a sort by row
 * number brings those of a left row together.
 */
private final class MatchMerger(plan: PartialMatches) extends PartialRowMerger {
  private val numberAt = plan.input.indexWhere(_.exprId == plan.partialRowId.exprId)
  private lazy val rows =
    SparkShims.spillingRows(PartialRows.RowsInMemory, PartialRows.BytesInMemory)
  private lazy val toUnsafe = UnsafeProjection.create(plan.input, plan.input)
  private val added = plan.metrics(SweepMetrics.PartialRows)
  private var isEmpty = true

  override def add(row: InternalRow): Unit = {
    added.add(1)
    isEmpty = false
    rows.add(toUnsafe(row))
  }

  override def finish(): Iterator[InternalRow] =
    if (isEmpty) Iterator.empty
    else {
      val number = BoundReference(numberAt, plan.partialRowId.dataType, nullable = false)
      val schema = DataTypeUtils.fromAttributes(plan.input)
      val sorter = RowSorter(schema, SortOrder(number, Ascending), plan.metrics)
      val sorted = sorter.sort(rows.generateIterator())
      rows.clear()
      val project = UnsafeProjection.create(plan.ofOne, plan.input)
      best(sorted.buffered).map(project)
    }

  private def best(sorted: collection.BufferedIterator[InternalRow]): Iterator[InternalRow] = {
    val ordering = RowOrdering.create(plan.order, plan.input)
    new Iterator[Iterator[InternalRow]] {
      override def hasNext: Boolean = sorted.hasNext
      override def next(): Iterator[InternalRow] = {
        val number = sorted.head.getLong(numberAt)
        val pairs = mutable.ArrayBuffer.empty[InternalRow]
        while (sorted.hasNext && sorted.head.getLong(numberAt) == number)
          pairs += sorted.next().copy()
        pairs.sorted(ordering).take(plan.count).iterator
      }
    }.flatten
  }
}
