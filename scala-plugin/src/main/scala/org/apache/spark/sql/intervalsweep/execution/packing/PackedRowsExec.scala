// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The child of a broadcast of [[PackedRows]]. It packs the rows of its own child in the tasks that
 * compute them. Only the broadcast exchange calls `executeCollectIterator`; all other callers get
 * the rows unchanged.
 */
case class PackedRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "PackedRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override protected def doExecute(): RDD[InternalRow] = child.execute()

  /** The number of the child's rows, and the packed rows. */
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
