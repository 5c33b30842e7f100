// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, GetStructField}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, LogicalPlan}
import org.apache.spark.sql.types.StructType

/**
 * Publishes the counts of a stream operator's partitions as observed metrics in the query's
 * progress, because Spark's stateful operator cannot report metrics of its processors.
 */
object ObservedCounts {
  private val Prefix = "intervalsweep_"

  /** @param partitions the column of `node` with the objects that [[OperatorOutput]] unpacks */
  def apply(node: LogicalPlan, partitions: Attribute): LogicalPlan = {
    val counts = GetStructField(partitions, OperatorOutput.Counts)
    val names = counts.dataType.asInstanceOf[StructType].names.toSeq
    val metrics = names.zipWithIndex.map { case (name, i) =>
      Alias(Sum(GetStructField(counts, i, Some(name))).toAggregateExpression(), name)()
    }
    CollectMetrics(s"$Prefix${partitions.exprId.id}", metrics, node, dataframeId = 0)
  }

  /**
   * The plan with metrics that are named by the kind and the position of their operator, inputs
   * first: `intervalsweep_window_union_1`. When an operator is created, its position is unknown.
   */
  def named(plan: LogicalPlan, kind: LogicalPlan => Option[String]): LogicalPlan = {
    var position = 0
    plan.transformUp {
      case metrics: CollectMetrics if metrics.name.startsWith(Prefix) =>
        kind(metrics.child).fold(metrics) { name =>
          position += 1
          metrics.copy(name = s"$Prefix${name}_$position")
        }
    }
  }
}
