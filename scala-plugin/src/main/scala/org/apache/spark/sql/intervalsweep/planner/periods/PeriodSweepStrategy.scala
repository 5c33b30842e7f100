// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.periods

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.intervalsweep.execution.periods.{PartialSumsExec, PeriodSweepExec}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  PeriodSweep, TemporalErrors, TemporalOperator, ValidTime
}

/**
 * Plans [[PeriodSweep]]s. A valid-time relation or a temporal operator that `sequenced` has not
 * replaced is an error.
 */
object PeriodSweepStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case sweep: PeriodSweep if PartialSumsExec.applies(sweep) =>
      val (partial, over) = PartialSumsExec.below(sweep, planLater(sweep.child))
      Seq(planned(over, partial))
    case sweep: PeriodSweep => Seq(planned(sweep, planLater(sweep.child)))
    case relation: ValidTime => TemporalErrors.outside(relation.names._1, relation.names._2)
    case operator: TemporalOperator => TemporalErrors.operatorOutside(operator.nodeName)
    case _ => Nil
  }

  private def planned(sweep: PeriodSweep, child: SparkPlan): SparkPlan = {
    import sweep.{child => _, _}
    PeriodSweepExec(
      rule,
      keys,
      from,
      to,
      weight,
      measures,
      results,
      output,
      child,
      fired.toSeq.flatten,
      PeriodSweepExec.isByRanges(sweep))
  }
}
