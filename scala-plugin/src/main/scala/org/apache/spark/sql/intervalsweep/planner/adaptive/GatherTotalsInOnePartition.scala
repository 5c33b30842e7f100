// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.adaptive

import org.apache.spark.sql.catalyst.plans.physical.SinglePartition
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.HashAggregateExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec}
import org.apache.spark.sql.intervalsweep.execution.{
  IntervalSweepJoinExec, SinglePartitionGatherExec
}

/**
 * A rule for adaptive execution: gathers totals over a swept join without a stage of their own. A
 * stage with one row per task gives adaptive execution no useful statistics. Only hash aggregates
 * are gathered, as their rows are numbers. Other aggregates, such as lists, may have long rows and
 * keep Spark's own exchange.
 *
 * {{{
 *   HashAggregate [sum(v)]                    HashAggregate [sum(v)]
 *     Exchange SinglePartition         ->       Gather
 *       HashAggregate [partial_sum(v)]            HashAggregate [partial_sum(v)]
 *         IntervalSweepJoin                         IntervalSweepJoin
 * }}}
 */
object GatherTotalsInOnePartition extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case exchange: ShuffleExchangeExec if isOfTotals(exchange) && isSwept(exchange.child) =>
      SinglePartitionGatherExec(exchange.child)
  }

  private def isOfTotals(exchange: ShuffleExchangeExec): Boolean =
    exchange.outputPartitioning == SinglePartition &&
      exchange.shuffleOrigin == ENSURE_REQUIREMENTS &&
      (exchange.child match {
        case aggregate: HashAggregateExec => aggregate.groupingExpressions.isEmpty
        case _ => false
      })

  /** Looks into finished stages too: the choice must be the same each time the query is planned. */
  private def isSwept(plan: SparkPlan): Boolean = plan.exists {
    case _: IntervalSweepJoinExec => true
    case stage: QueryStageExec => isSwept(stage.plan)
    case _ => false
  }
}
