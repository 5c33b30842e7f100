// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TransformWithState}

/** What a stream operator says about the event time of the rows that it returns. */
trait OperatorTimes {

  /** Advice for a query that needs an event time of the returned rows. */
  def timeAdvice: String

  /** Whether some rows are returned only after the watermark has passed a time. */
  def waitsForWatermark: Boolean
}

object OperatorTimes {

  /** Advice for operators that return no column with an event time. */
  private[streams] val SecondQuery =
    "write its rows to files or to a topic, and read these by a second query with withWatermark"

  /** Advice for operators whose rows have the end of their period as the event time. */
  private[streams] val EndOfPeriod = "keep the column with the end of the period"

  /** The first operator in a plan, from the top. */
  def in(plan: LogicalPlan): Option[OperatorTimes] = all(plan).headOption

  /** Whether an operator in a plan waits for the watermark. */
  def waitingIn(plan: LogicalPlan): Option[OperatorTimes] = all(plan).find(_.waitsForWatermark)

  private def all(plan: LogicalPlan): Seq[OperatorTimes] =
    plan.collect { case node: TransformWithState => node.statefulProcessor: Any }
      .collect { case times: OperatorTimes => times }
}
