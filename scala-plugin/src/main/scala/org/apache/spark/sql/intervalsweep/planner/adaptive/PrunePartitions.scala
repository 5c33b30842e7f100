// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.adaptive

import org.apache.spark.sql.catalyst.expressions.{
  DynamicPruningExpression, DynamicPruningSubquery, Expression
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{
  InSubqueryExec, QueryExecution, SparkPlan, SubqueryAdaptiveBroadcastExec
}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.intervalsweep.execution.packing.{PackedRows, PackedRowsExec}
import org.apache.spark.sql.intervalsweep.execution.task.SweepMode
import org.apache.spark.sql.intervalsweep.execution.{IntervalSweepJoinExec, PackedKeysExec}
import org.apache.spark.sql.intervalsweep.planner.nodes.PackedSide
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/**
 * Dynamic partition pruning by the broadcast side of a swept join. Spark's optimizer adds a filter
 * to the other side: "the key is one of the keys of the build side". Two of Spark's rules then
 * decide what the filter becomes. They know only broadcast hash joins and remove the filter
 * elsewhere. For our broadcasts the decision is made before these rules:
 * {{{
 *   without adaptive execution   by the strategy, in the other side's logical plan: inOtherSide
 *   with adaptive execution      by a rule for the plan before it is cut into stages: apply
 * }}}
 * If no swept join broadcasts that build side, the filter is left to Spark's rules.
 */
object PrunePartitions extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!isOn) plan
    else {
      val broadcasts = plan.collect { case join: IntervalSweepJoinExec => broadcast(join) }.flatten
      if (broadcasts.isEmpty) plan
      else plan.transformAllExpressionsWithPruning(
        _.containsPattern(TreePattern.DYNAMIC_PRUNING_EXPRESSION)) {
        case DynamicPruningExpression(in @ InSubqueryExec(_, Wanted(wanted), _, _, _, _))
            if broadcasts.exists(_.sameResult(wanted.exchange)) =>
          DynamicPruningExpression(in.withNewPlan(wanted.keys))
      }
    }

  /** Replaces the filters without adaptive execution, before the other side has a physical plan. */
  def inOtherSide(side: LogicalPlan, broadcast: LogicalPlan): LogicalPlan =
    if (!isOn || conf.adaptiveExecutionEnabled) side
    else side.transformAllExpressionsWithPruning(
      _.containsPattern(TreePattern.DYNAMIC_PRUNING_SUBQUERY)) {
      case DynamicPruningSubquery(value, build, keys, Seq(index), _, id, _)
          if isTaken(keys(index).dataType) && planned(build).sameResult(planned(broadcast)) =>
        val exchange = QueryExecution.prepareExecutedPlan(session, exchangeOf(planned(build)))
        val values = PackedKeysExec(s"dynamicpruning#${id.id}", keys(index), exchange)
        DynamicPruningExpression(InSubqueryExec(value, values, id))
    }

  private def isOn: Boolean = conf.dynamicPartitionPruningEnabled && conf.exchangeReuseEnabled

  /** Floating-point keys are left out: 0.0 and -0.0 are one key, but two values of a partition. */
  private def isTaken(key: DataType): Boolean =
    !key.existsRecursively(t => t == FloatType || t == DoubleType)

  private def session: SparkSession = SparkSession.active

  private def planned(plan: LogicalPlan): SparkPlan =
    session.sessionState.planner.plan(plan.clone()).next()

  private def exchangeOf(build: SparkPlan): BroadcastExchangeExec =
    BroadcastExchangeExec(PackedRows, PackedRowsExec(build))

  private def broadcast(join: IntervalSweepJoinExec): Option[SparkPlan] = join.mode match {
    case SweepMode.Broadcast(side) => Some(join.input(side))
    case _ => None
  }

  /** The broadcast from which adaptive execution would take the keys. */
  private final class Wanted(
      subquery: SubqueryAdaptiveBroadcastExec,
      key: Expression,
      adaptive: AdaptiveSparkPlanExec) {

    val exchange: BroadcastExchangeExec = exchangeOf(adaptive.executedPlan)

    /**
     * The keys of the broadcast. Its stage is that of the join, as plans of a query share their
     * stages.
     */
    def keys: PackedKeysExec = {
      adaptive.executedPlan.logicalLink.foreach(link => exchange.setLogicalLink(PackedSide(link)))
      PackedKeysExec(subquery.name, key, adaptive.copy(inputPlan = exchange))
    }
  }

  private object Wanted {
    def unapply(plan: SparkPlan): Option[Wanted] = plan match {
      case s @ SubqueryAdaptiveBroadcastExec(_, Seq(index), _, _, keys, a: AdaptiveSparkPlanExec)
          if isTaken(keys(index).dataType) => Some(new Wanted(s, keys(index), a))
      case _ => None
    }
  }
}
