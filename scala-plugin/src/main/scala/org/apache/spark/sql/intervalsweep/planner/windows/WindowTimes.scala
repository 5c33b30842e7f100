// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.LATERAL_JOIN
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.expiry.TimeWindow
import org.apache.spark.sql.intervalsweep.functions.WindowEventTime
import org.apache.spark.sql.intervalsweep.planner.laterals.LateralWindow
import org.apache.spark.sql.types.{Metadata, TimestampType}

/**
 * A resolution rule: replaces `window_event_time()` in a lateral subquery by an expression over the
 * outer row, for tables and streams alike.
 * {{{
 *   base LEFT JOIN LATERAL (SELECT count(*), window_event_time() AS at FROM probe
 *     WHERE probe.ts BETWEEN base.ts - INTERVAL 5 SECONDS AND base.ts + INTERVAL 2 SECONDS) ON true
 *
 *   at = greatest(base.ts, base.ts + INTERVAL 2 SECONDS)
 * }}}
 * With two streams, a row is emitted in the micro-batch whose watermark reaches this time. So `at`
 * is above the previous batch's watermark, and downstream operators do not drop the row as late.
 */
object WindowTimes extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.Enabled)) plan
    else plan.resolveOperatorsUpWithPruning(_.containsPattern(LATERAL_JOIN)) {
      case join @ LateralJoin(base, subquery, _, _)
          if join.resolved && subquery.plan.exists(_.expressions.exists(isIn)) =>
        eventTime(base, subquery.plan).fold[LogicalPlan](join) { case (time, metadata) =>
          join.copy(right = subquery.withNewPlan(written(subquery.plan, time, metadata)))
        }
    }

  private def isIn(e: Expression): Boolean = e.exists(_.isInstanceOf[WindowEventTime])

  private def written(plan: LogicalPlan, time: Expression, metadata: Metadata): LogicalPlan =
    // The subquery is analyzed already, so a resolution rule of Spark would skip it.
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transform {
        case aggregate: Aggregate if aggregate.aggregateExpressions.exists(isIn) =>
          aggregate.copy(aggregateExpressions = aggregate.aggregateExpressions.map {
            case column @ Alias(_: WindowEventTime, name) =>
              Alias(time, name)(column.exprId, column.qualifier, Some(metadata))
            case other => other.transform { case _: WindowEventTime => time }
                .asInstanceOf[NamedExpression]
          })
      }
    }

  /** The time and its watermark; None if the subquery is not a window of time. */
  private def eventTime(
      base: LogicalPlan,
      subquery: LogicalPlan): Option[(Expression, Metadata)] = for {
    lateral <- LateralWindow.of(base, subquery).filter(_.limit.isEmpty)
    condition <- lateral.conditions.reduceOption(And)
    (time, window) <- WindowClocks.find(base, lateral).map(c => c.base -> c.window)
      .orElse(windows(base, lateral.probe, condition) match {
        case Seq(one) => Some(one)
        case _ => None
      })
  } yield {
    val hasWatermark = subquery.isStreaming && !lateral.isEager
    val ofRow = window.eventTime(time).transform { case a: Attribute => OuterReference(a) }
    (ofRow, if (hasWatermark) time.metadata else Metadata.empty)
  }

  private def windows(
      base: LogicalPlan,
      probe: LogicalPlan,
      condition: Expression): Seq[(Attribute, TimeWindow)] = {
    def times(plan: LogicalPlan) =
      plan.output.filter(a => a.dataType == TimestampType && condition.references.contains(a))
    for {
      time <- times(base)
      other <- times(probe)
      window <- TimeWindow.of(condition, time, other).window
    } yield (time, window)
  }
}
