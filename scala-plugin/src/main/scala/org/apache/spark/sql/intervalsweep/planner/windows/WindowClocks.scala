// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.intervalsweep.condition.expiry.TimeWindow
import org.apache.spark.sql.intervalsweep.planner.laterals.LateralWindow
import org.apache.spark.sql.intervalsweep.streams.eventtime.{MissingWatermark, StreamErrors}
import org.apache.spark.sql.types.{TimestampType, YearMonthIntervalType}

/**
 * The event-time columns of a window union, and the window between them. If a side has several
 * columns with a watermark, the first pair of columns that the condition bounds is taken.
 */
private[planner] case class WindowClocks(
    base: Attribute,
    probe: Attribute,
    window: TimeWindow,
    others: Seq[Expression])

private[planner] object WindowClocks {

  /** None if the condition bounds no two columns with watermarks. */
  def find(base: LogicalPlan, lateral: LateralWindow): Option[WindowClocks] =
    between(watermarked(base), watermarked(lateral.probe), lateral).nextOption()

  /** Fails, with advice, if the condition bounds no two columns with watermarks. */
  def of(base: LogicalPlan, lateral: LateralWindow): WindowClocks =
    find(base, lateral).getOrElse(fail(base, lateral))

  private def watermarked(plan: LogicalPlan): Seq[Attribute] =
    plan.output.filter(StreamOperator.hasWatermark)

  private def condition(lateral: LateralWindow): Expression =
    lateral.conditions.reduceOption(And).getOrElse(Literal.TrueLiteral)

  private def between(
      bases: Seq[Attribute],
      probes: Seq[Attribute],
      lateral: LateralWindow): Iterator[WindowClocks] =
    for {
      base <- bases.iterator
      probe <- probes.iterator
      found = TimeWindow.of(condition(lateral), base, probe)
      window <- if (isOfLast(lateral, probe)) found.lookingBack else found.window
    } yield WindowClocks(base, probe, window, found.others)

  /** Whether only the last rows of a window are needed, so that the window may have all rows. */
  private def isOfLast(lateral: LateralWindow, probe: Attribute): Boolean =
    lateral.limit.exists(limit => limit.fromEnd && limit.value.semanticEquals(probe))

  private def fail(base: LogicalPlan, lateral: LateralWindow): Nothing = {
    val sides = Seq("base stream" -> base, "probe stream" -> lateral.probe)
    val clocks = sides.map { case (side, plan) =>
      watermarked(plan).headOption.getOrElse(MissingWatermark.fail(side, plan))
    }
    val times = sides.map(_._2.output.filter(_.dataType == TimestampType))
    between(times(0), times(1), lateral).nextOption().foreach { meant =>
      for (((side, _), (clock, time)) <- sides.zip(clocks.zip(Seq(meant.base, meant.probe))))
        if (!StreamOperator.hasWatermark(time))
          StreamErrors.otherWatermark(side, "the window", time.name, clock.name)
    }
    val missing = TimeWindow.of(condition(lateral), clocks(0), clocks(1)).missing.mkString(" and ")
    StreamErrors.unboundedState(
      missing,
      clocks(0).name,
      clocks(1).name,
      hasMonths = condition(lateral).exists(_.dataType.isInstanceOf[YearMonthIntervalType]))
  }
}
