// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.types.TimestampType

/** Says why a stream has no column with a watermark, and what to change. */
private[intervalsweep] object MissingWatermark {

  /** @param side the stream, such as "base stream" */
  def fail(side: String, plan: LogicalPlan): Nothing = {
    val operator = OperatorTimes.in(plan)
    val below = plan.collectFirst { case w: EventTimeWatermark => w.eventTime.name }
    (operator, below) match {
      case (Some(times), _) => StreamErrors.noEventTime(side, times.timeAdvice)
      case (_, Some(column)) => StreamErrors.lostWatermark(side, column)
      case _ =>
        val times = plan.output.filter(_.dataType == TimestampType)
        StreamErrors.noWatermark(side, times.map(StreamErrors.name))
    }
  }
}
