// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.intervalsweep.execution.packing.ReturnsBatches

/**
 * The rows of all children, for a [[packing.PackedExchangeExec]]. The rows of a child that come in
 * batches stay in batches; Spark generates code for its own union, which makes rows of them.
 */
case class BatchUnionExec(override val output: Seq[Attribute], children: Seq[SparkPlan])
    extends SparkPlan with ReturnsBatches {
  override def nodeName: String = "BatchUnion"

  override protected def doExecute(): RDD[InternalRow] =
    sparkContext.union(children.map(_.execute()))

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[SparkPlan]): SparkPlan =
    copy(children = newChildren)
}
