// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.{GetArrayItem, Literal, Pmod}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TransformWithState}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  ObservedCounts, OperatorOutput, PartitionedBatches, SingleRowBatches, StatePartitionHash,
  StatePartitions
}
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor

/**
 * An optimizer rule: sets the number of state partitions when a batch is planned. The number is
 * part of a checkpoint, so it is unknown when a query is analyzed. The rule also names the metrics of
 * operators.
 */
object ResolveStatePartitions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(processor(_).isDefined)) plan
    else {
      StatePartitions.checkStateStore(conf)
      val partitions = StatePartitions.partitions(conf)
      val isRealTime = SparkShims.isRealTime(plan)
      val placed = plan.transform { case node: TransformWithState =>
        processor(node).filter(_.partitions.isEmpty).fold(node) { found =>
          node.copy(statefulProcessor = found.resolved(partitions, isRealTime))
        }
      }
      val numbers = Literal(StatePartitions.numbers(partitions))
      val named = ObservedCounts.named(placed, processor(_).map(_.kind))
      (if (isRealTime) inRealTime(named, partitions) else named).transformAllExpressions {
        case StatePartitionHash(hash) =>
          GetArrayItem(numbers, Pmod(hash, Literal(partitions)), failOnError = false)
      }
    }

  /**
   * In real-time mode the operator is called for single rows, not for all rows of a partition and
   * micro-batch, and returns single rows.
   */
  private def inRealTime(plan: LogicalPlan, partitions: Int): LogicalPlan = plan.transform {
    case rows: PartitionedBatches => SingleRowBatches(rows, partitions)
    case rows: OperatorOutput => rows.inRealTime
  }

  private def processor(plan: LogicalPlan): Option[PartitionProcessor] = plan match {
    case node: TransformWithState => Some(node.statefulProcessor: Any)
        .collect { case ours: PartitionProcessor => ours }
    case _ => None
  }
}
