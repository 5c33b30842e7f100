// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.adaptive

import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.execution.{IntervalSweepJoinExec, SweepInputExec}
import org.apache.spark.sql.intervalsweep.execution.packing.PackedExchangeExec
import org.apache.spark.sql.intervalsweep.execution.periods.PeriodSweepExec

/**
 * Packs the rows that Spark's exchange sends to a sweep by keys.
 *
 * {{{
 *   PeriodSweep                               PeriodSweep
 *     Exchange hashpartitioning(k)     ->       PackedExchange hashpartitioning(k)
 *       Scan                                      Scan
 * }}}
 *
 * Adaptive execution applies the rule before it cuts a plan into stages. Without adaptive
 * execution, it is applied as a columnar rule, which comes after Spark has put in the exchanges.
 */
object PackExchanges extends Rule[SparkPlan] {

  /**
   * A task packs rows for all partitions at the same time. With more partitions than this, it would
   * need too much memory for them, or pack too few rows together.
   */
  private val MostPartitions = 2000

  override def apply(plan: SparkPlan): SparkPlan =
    if (!conf.getConf(IntervalSweepConf.PackedExchange)) plan
    else plan.transformUp {
      case sweep @ (_: PeriodSweepExec | _: IntervalSweepJoinExec) =>
        sweep.withNewChildren(sweep.children.map(packed))
    }

  private def packed(plan: SparkPlan): SparkPlan = plan match {
    case exchange: ShuffleExchangeExec if exchange.shuffleOrigin == ENSURE_REQUIREMENTS =>
      exchange.outputPartitioning match {
        case byHash: HashPartitioning if byHash.numPartitions <= MostPartitions =>
          PackedExchangeExec(byHash, exchange.child)
        case _ => exchange
      }
    case _: SweepInputExec | _: SortExec => plan.withNewChildren(plan.children.map(packed))
    case _ => plan
  }

  /** The same rule, for plans without adaptive execution. */
  object Columnar extends ColumnarRule {
    override val preColumnarTransitions: Rule[SparkPlan] = PackExchanges
  }
}
