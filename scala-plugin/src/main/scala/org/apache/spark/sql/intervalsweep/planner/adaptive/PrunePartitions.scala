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
 * Dynamic partition pruning by the broadcast side of a swept join. Spark's optimizer puts a filter
 * on the other side, "the key is one of those of the build side"; what becomes of it is decided by
 * two rules that know broadcast hash joins by name, and take the filter away elsewhere. Here it is
 * decided before them, for our broadcasts:
 * {{{
 *   without adaptive execution   the strategy, in the other side's logical plan: inOtherSide
 *   with it                      a rule for the plan that is not in stages yet: apply
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

  /** Where it is all done before there is a physical plan of the other side. */
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

  /** 0.0 and -0.0 are one key, and two values of a partition. */
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

  /** The broadcast that adaptive execution would take the keys from. */
  private final class Wanted(
      subquery: SubqueryAdaptiveBroadcastExec,
      key: Expression,
      adaptive: AdaptiveSparkPlanExec) {

    val exchange: BroadcastExchangeExec = exchangeOf(adaptive.executedPlan)

    /** Its stage is that of the join: plans of a query share their stages. */
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
