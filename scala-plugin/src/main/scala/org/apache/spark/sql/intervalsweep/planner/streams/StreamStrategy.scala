// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, OperatorOutputExec, PartitionedBatches, PartitionedBatchesExec, StatePartitions
}

/** Plans what stream operators need beside Spark's own. */
object StreamStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PartitionedBatches(number, copied, columns, keys, time, fanout, output, child) =>
      // In a stream it is that of the session that runs the query, which the checkpoint decides.
      val partitions = StatePartitions.partitions(SQLConf.get)
      Seq(PartitionedBatchesExec(
        NamedExpression.newExprId.id,
        number,
        copied,
        columns,
        keys,
        time,
        fanout,
        output,
        partitions,
        planLater(child)))
    case OperatorOutput(_, output, child) => Seq(OperatorOutputExec(output, planLater(child)))
    case _ => Nil
  }
}
