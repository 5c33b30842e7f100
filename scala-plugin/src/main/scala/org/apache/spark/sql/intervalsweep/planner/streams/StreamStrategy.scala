// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.histories.{
  CombinedSweep, SliceHistory, SliceHistoryExec
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, OperatorOutputExec, PartitionedBatches, PartitionedBatchesExec, StatePartitions,
  UnfilteredWatermark
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.PeriodSweep

/**
 * Plans the nodes of stream operators that Spark does not know, and sweeps over rows of streams. It
 * comes before the strategy for sweeps.
 */
object StreamStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PartitionedBatches(number, copied, columns, keys, time, fanout, output, child) =>
      // In a streaming query the checkpoint sets the number of partitions in the session's conf.
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
    case SliceHistory(query, goesOn, _, output, child) =>
      Seq(SliceHistoryExec(query, goesOn, output, planLater(child)))
    case sweep: PeriodSweep => CombinedSweep.unapply(sweep).map(planLater).toSeq
    case UnfilteredWatermark(child) => Seq(planLater(child))
    case OperatorOutput(_, output, child) => Seq(OperatorOutputExec(output, planLater(child)))
    case _ => Nil
  }
}
