// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.planner.windows.StreamOperator
import org.apache.spark.sql.intervalsweep.streams.eventtime.{OperatorTimes, StreamErrors}
import org.apache.spark.sql.streaming.OutputMode

/**
 * Checks of operators above stream operators.
 *
 * A second watermark must not stand above an operator that waits for the watermark. The watermark of
 * a query is the smallest one of all `withWatermark` calls, and the upper one gets its first row
 * only when this watermark has passed a time. So neither would ever move.
 *
 * An aggregate in append mode needs an event time, which Spark reports without a hint at the
 * function that returns one. This is a hint rule, as these run before Spark's check.
 */
object StreamWatermarks extends Rule[LogicalPlan] {

  val check: SparkSession => LogicalPlan => Unit = _ =>
    plan =>
      if (plan.isStreaming) plan.foreach {
        case above: EventTimeWatermark =>
          OperatorTimes.waitingIn(above.child).foreach { operator =>
            StreamErrors.secondWatermark(above.eventTime.name, operator.timeAdvice)
          }
        case _ =>
      }

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (conf.getConf(IntervalSweepConf.Enabled)) plan match {
      case write: WriteToStreamStatement if write.outputMode == OutputMode.Append() =>
        write.inputQuery.foreach {
          case aggregate: Aggregate
              if aggregate.isStreaming && !aggregate.groupingExpressions.exists(hasWatermark) =>
            OperatorTimes.in(aggregate).foreach { operator =>
              StreamErrors.noEventTime("input of an aggregate", operator.timeAdvice)
            }
          case _ =>
        }
      case _ =>
    }
    plan
  }

  private def hasWatermark(group: Expression): Boolean =
    group.references.exists(StreamOperator.hasWatermark)
}
