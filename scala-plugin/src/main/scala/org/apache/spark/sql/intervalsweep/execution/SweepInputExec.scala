// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The input of one side of an IntervalSweepJoin. It passes the rows on unchanged. Since it has no
 * generated code, Spark generates the code below it as a stage of its own. For the inputs of its
 * own SortMergeJoin, a rule of Spark does this by class name.
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
