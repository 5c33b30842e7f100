// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.model.JoinOutput
import org.apache.spark.sql.intervalsweep.streams.eventtime.{ClockMetadata, JoinWatermarks}
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
   * Whether rows are counted, and row numbers bound the window or no column has a watermark.
   *
   * @param isTimed whether the condition bounds a window of time
   */
  def isAsked(base: LogicalPlan, lateral: LateralWindow, isTimed: Boolean): Boolean =
    !isTimed && !lateral.isEager &&
      lateral.results.forall(_.collect { case e: AggregateExpression => e }.forall(isCount)) && {
        val all = base.output ++ lateral.probe.output
        lazy val (join, condition) = joined(base, lateral)
        !all.exists(ClockMetadata.eventTimeLag(_).isDefined) ||
        JoinWatermarks.areOfRows(join, condition)
      }

  private def isCount(e: AggregateExpression): Boolean = e match {
    case AggregateExpression(Count(Seq(Literal(value, _))), _, false, None, _) => value != null
    case _ => false
  }

  def apply(base: LogicalPlan, lateral: LateralWindow): LogicalPlan = {
    val (join, condition) = joined(base, lateral)
    val counted =
      new StreamJoinPlan(join, condition, JoinOutput.of(LeftOuter).get, isCounted = true).plan
    val (baseColumns, count) = (counted.output.init, counted.output.last)
    val values = lateral.columns(_.transform { case _: AggregateExpression => count })
    Project(baseColumns ++ values, counted)
  }

  private def joined(base: LogicalPlan, lateral: LateralWindow): (Join, Expression) = {
    val (filters, probe) = unfiltered(lateral.probe)
    val condition = (lateral.conditions ++ filters).reduceOption(And).getOrElse(Literal.TrueLiteral)
    (Join(base, probe, LeftOuter, Some(condition), JoinHint.NONE), condition)
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
