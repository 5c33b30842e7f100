// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, GetStructField}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, LogicalPlan}
import org.apache.spark.sql.types.StructType

/**
 * Has what the slots of a stream operator count be in the query's progress, among the observed
 * metrics: Spark's own operator has no place for counts of others.
 */
object ObservedCounts {

  /** @param slots the column of `node` that has the counts, among what [[SlotRows]] takes */
  def apply(node: LogicalPlan, slots: Attribute): LogicalPlan = {
    val counts = GetStructField(slots, SlotRows.Counts)
    val names = counts.dataType.asInstanceOf[StructType].names.toSeq
    val metrics = names.zipWithIndex.map { case (name, i) =>
      Alias(Sum(GetStructField(counts, i, Some(name))).toAggregateExpression(), name)()
    }
    CollectMetrics(s"intervalsweep_${slots.exprId.id}", metrics, node, dataframeId = 0)
  }
}
