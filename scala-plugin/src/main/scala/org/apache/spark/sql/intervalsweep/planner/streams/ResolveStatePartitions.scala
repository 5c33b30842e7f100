// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.{GetArrayItem, Literal, Pmod}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TransformWithState}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinProcessor
import org.apache.spark.sql.intervalsweep.streams.ongoing.OngoingJoinProcessor
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, PartitionProcessor, PartitionedBatches, SingleRowBatches, StatePartitionHash,
  StatePartitions
}
import org.apache.spark.sql.intervalsweep.streams.windows.StreamProcessor

/**
 * An optimizer rule: sets the number of state partitions when a batch is planned. The number is
 * part of a checkpoint, so it is unknown when a query is analyzed.
 */
object ResolveStatePartitions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(isOurs)) plan
    else {
      StatePartitions.checkStateStore(conf)
      val placed = if (SparkShims.isRealTime(plan)) inRealTime(plan) else plan
      val numbers = StatePartitions.numbers(StatePartitions.partitions(conf))
      val all = Literal(numbers)
      placed.transformAllExpressions {
        case StatePartitionHash(hash) =>
          GetArrayItem(all, Pmod(hash, Literal(numbers.length)), failOnError = false)
      }
    }

  /**
   * In real-time mode the operator is called for single rows, not for all rows of a partition and
   * micro-batch, and returns single rows.
   */
  private def inRealTime(plan: LogicalPlan): LogicalPlan = plan.transform {
    case rows: PartitionedBatches => SingleRowBatches(rows, StatePartitions.partitions(conf))
    case rows: OperatorOutput => rows.inRealTime
    case node: TransformWithState =>
      node.statefulProcessor.asInstanceOf[Any] match {
        case windows: StreamProcessor => node.copy(statefulProcessor = windows.inRealTime)
        case join: StreamJoinProcessor =>
          node.copy(statefulProcessor = join.inRealTime(StatePartitions.partitions(conf)))
        case _: OngoingJoinProcessor =>
          StreamErrors.notInRealTime("A join of intervals that are still open")
        case _ => node
      }
  }

  private def isOurs(plan: LogicalPlan): Boolean = plan match {
    case t: TransformWithState => t.statefulProcessor.isInstanceOf[PartitionProcessor]
    case _ => false
  }
}
