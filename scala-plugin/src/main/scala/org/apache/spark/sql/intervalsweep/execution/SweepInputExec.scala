// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * Where one side of an IntervalSweepJoin begins. It passes the rows on as they are: being no
 * generated code itself, it makes Spark generate the code of what is below as a stage of its own,
 * as Spark's rule does by name for the inputs of its own SortMergeJoin.
 */
case class SweepInputExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "IntervalSweepInput"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}
