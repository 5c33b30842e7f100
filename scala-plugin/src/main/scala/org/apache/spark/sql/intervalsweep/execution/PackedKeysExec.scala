// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.util.{HashSet => JHashSet}

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, Expression, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.{BaseSubqueryExec, SQLExecution, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.intervalsweep.execution.packing.PackedRows

/**
 * The distinct non-NULL values of a key in a broadcast of [[PackedRows]], for pruning partitions of
 * the other side. This node does for these broadcasts what `SubqueryBroadcastExec` does for Spark's
 * hash tables. It reads the broadcast of the join, which is made once.
 *
 * @param key an expression over the columns of the broadcast rows
 * @param child the broadcast exchange, or its adaptive plan
 */
case class PackedKeysExec(override val name: String, key: Expression, child: SparkPlan)
    extends BaseSubqueryExec with UnaryExecNode {
  override def nodeName: String = "PackedKeys"

  // Callers read only the number of columns.
  override def output: Seq[Attribute] =
    Seq(AttributeReference("key", key.dataType, key.nullable)())

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doCanonicalize(): SparkPlan =
    PackedKeysExec("", QueryPlan.normalizeExpressions(key, child.output), child.canonicalized)

  @transient private lazy val keys: Array[InternalRow] = {
    val packed = child.executeBroadcast[Array[InternalRow]]().value
    val keyOf = UnsafeProjection.create(Seq(key), child.output)
    val distinct = new JHashSet[UnsafeRow]
    PackedRows.unpack(packed, child.output.map(_.dataType).toArray, PackedRows.codec).foreach {
      row =>
        val value = keyOf(row)
        if (!value.isNullAt(0) && !distinct.contains(value)) distinct.add(value.copy())
    }
    longMetric("numOutputRows") += distinct.size
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, metrics.values.toSeq)
    distinct.toArray(Array.empty[InternalRow])
  }

  override def executeCollect(): Array[InternalRow] = keys

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName is a subquery, and has no rows")

  override protected def withNewChildInternal(newChild: SparkPlan): PackedKeysExec =
    copy(child = newChild)
}
