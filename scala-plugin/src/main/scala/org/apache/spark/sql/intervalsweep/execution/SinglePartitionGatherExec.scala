// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, SinglePartition}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.packing.{AddressedRow, RowShuffle}

/**
 * Gathers the rows of all tasks in one partition, by a shuffle within the job that reads them.
 * Unlike at Spark's own exchange, adaptive execution begins no stage here, which saves a job and
 * planning the rest of the query again.
 */
case class SinglePartitionGatherExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "Gather"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = SinglePartition
  override lazy val metrics: Map[String, SQLMetric] = RowShuffle.createMetrics(sparkContext)

  override protected def doExecute(): RDD[InternalRow] = {
    val addressed = child.execute().mapPartitionsInternal[AddressedRow] { rows =>
      val sent = new AddressedRow
      rows.map(sent.update(0, _))
    }
    RowShuffle(addressed, 1, output.map(_.dataType).toArray, metrics)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SinglePartitionGatherExec =
    copy(child = newChild)
}
