// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * What a broadcast of [[PackedRows]] collects from: it packs the rows of its child where they are.
 * Only the exchange asks a plan for its rows in this way; the node passes them on as they are to
 * whoever else asks.
 */
case class PackedRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "PackedRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override protected def doExecute(): RDD[InternalRow] = child.execute()

  /** The number of the child's rows, and the rows packed. */
  override def executeCollectIterator(): (Long, Iterator[InternalRow]) = {
    val numFields = output.size
    val packed =
      child.execute().mapPartitionsInternal(new Packing(_, numFields, PackedRows.codec))
    val chunks = CollectPacked(packed)
    (chunks.map(_.rows).sum, PackedRows.of(chunks.iterator))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackedRowsExec =
    copy(child = newChild)
}
