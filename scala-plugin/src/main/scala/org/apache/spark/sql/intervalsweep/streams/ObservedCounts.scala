// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, GetStructField, IsNull}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, Filter, LogicalPlan}
import org.apache.spark.sql.types.StructType

/**
 * Has what the slots of a stream operator count be in the query's progress, among the observed
 * metrics: Spark's own operator has no place for counts of others. Each slot gives out one row more,
 * that has nothing but its counts.
 */
object ObservedCounts {

  /** @param rows the column of `node` whose last field has the counts */
  def apply(node: LogicalPlan, rows: Attribute): LogicalPlan = {
    val fields = rows.dataType.asInstanceOf[StructType]
    val counts = GetStructField(rows, fields.size - 1, Some("counts"))
    val names = fields.last.dataType.asInstanceOf[StructType].names.toSeq
    val metrics = names.zipWithIndex.map { case (name, i) =>
      Alias(Sum(GetStructField(counts, i, Some(name))).toAggregateExpression(), name)()
    }
    val name = s"intervalsweep_${rows.exprId.id}"
    Filter(IsNull(counts), CollectMetrics(name, metrics, node, dataframeId = 0))
  }
}
