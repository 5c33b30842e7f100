// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.model.JoinOutput
import org.apache.spark.sql.intervalsweep.streams.eventtime.ClockMetadata
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinPlan

/**
 * Counts for each row the rows of another stream in a window of row numbers: the aggregate of the
 * SPO-Join paper (Section 6.1).
 * {{{
 *   S LEFT JOIN LATERAL (SELECT count(*) FROM R
 *     WHERE S.dist > R.dist AND S.fare < R.fare AND abs(S.seq - R.seq) < 1000) ON true
 *
 *   Project [S.*, counted]
 *     the join of S and R that counts the pairs of each row of S
 * }}}
 * A row is emitted when the row numbers that have arrived prove that its count is final.
 */
private[planner] object WindowCounts {

  /**
   * Whether the window is one of row numbers, as no column has a watermark, and rows are counted.
   */
  def isAsked(base: LogicalPlan, lateral: LateralWindow): Boolean =
    !(base.output ++ lateral.probe.output).exists(ClockMetadata.eventTimeLag(_).isDefined) &&
      !lateral.isEager &&
      lateral.results.forall(_.collect { case e: AggregateExpression => e }.forall(isCount))

  private def isCount(e: AggregateExpression): Boolean = e match {
    case AggregateExpression(Count(Seq(Literal(value, _))), _, false, None, _) => value != null
    case _ => false
  }

  def apply(base: LogicalPlan, lateral: LateralWindow): LogicalPlan = {
    val (filters, probe) = unfiltered(lateral.probe)
    val condition = (lateral.conditions ++ filters).reduceOption(And).getOrElse(Literal.TrueLiteral)
    val join = Join(base, probe, LeftOuter, Some(condition), JoinHint.NONE)
    val counted =
      new StreamJoinPlan(join, condition, JoinOutput.of(LeftOuter).get, isCounted = true).plan
    val (baseColumns, count) = (counted.output.init, counted.output.last)
    val values = lateral.columns(_.transform { case _: AggregateExpression => count })
    Project(baseColumns ++ values, counted)
  }

  /**
   * The filters of the probe rows, and the rows below. The join evaluates the filters, because the
   * numbers of all rows tell which counts are final.
   */
  private def unfiltered(probe: LogicalPlan): (Seq[Expression], LogicalPlan) = probe match {
    case Filter(condition, child) =>
      val (filters, rows) = unfiltered(child)
      (filters :+ condition, rows)
    case other => (Nil, other)
  }
}
