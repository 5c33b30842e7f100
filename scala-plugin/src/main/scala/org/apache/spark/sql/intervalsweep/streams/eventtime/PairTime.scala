// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.functions.PairEventTime
import org.apache.spark.sql.types._

/**
 * The event time of the rows that a join returns, for `pair_event_time`.
 *
 * @param condition the join condition, with inlined replaceable expressions
 * @param clocks    the event-time columns, if the join is one of streams
 */
final case class PairTime(
    join: Join,
    condition: Expression,
    output: JoinOutput,
    clocks: Option[JoinWatermarks]) {

  def apply(time: PairEventTime): Expression = (time.left, time.right) match {
    case (left: Attribute, right: Attribute)
        if join.left.outputSet.contains(left) && join.right.outputSet.contains(right) &&
          left.dataType == right.dataType =>
      clocks.foreach(_.checkAre(left, right, time))
      val pair = Greatest(Seq(left, right))
      val orLeft = orUnmatched(LeftSide, left, right, pair, time)
      orUnmatched(RightSide, right, left, orLeft, time)
    case _ => time.unknown()
  }

  /** NULL as the other time means "unmatched" here: rows with NULL event time never match. */
  private def orUnmatched(
      side: Side,
      own: Attribute,
      other: Attribute,
      pair: Expression,
      time: PairEventTime): Expression =
    if (!output.keepsUnmatched(side)) pair
    else {
      val expiry = JoinClocks.analysis(join, side, other).of(condition) match {
        case Right(stateExpiry) => asTime(stateExpiry.expiry, own.dataType, time)
        case Left(missing) => time.fail(
            s"nothing says up to when a row of the $side side may find a match: ${missing.advice}")
      }
      val unmatched = If(IsNull(own), Literal(null, own.dataType), Greatest(Seq(own, expiry)))
      If(IsNull(other), unmatched, pair)
    }

  private def asTime(number: Expression, dataType: DataType, time: PairEventTime): Expression =
    dataType match {
      case TimestampType | TimestampNTZType =>
        PreciseTimestampConversion(number, LongType, dataType)
      case _: IntegralType => Cast(number, dataType)
      case _ => time.unknown()
    }

  /** The metadata of the event time: its watermark, or its lag. None for a join of tables. */
  def marked: Option[Metadata] = clocks.map { c =>
    ClockMetadata.putLag(new MetadataBuilder(), c.eventTimeLag).build()
  }

  /** Whether a column has the watermark that moves to the event time. */
  def isMarked(column: Attribute): Boolean =
    clocks.isDefined && column.metadata.contains(EventTimeWatermark.delayKey)

  /** The metadata of a column without its watermark. Joins of streams can still use the column. */
  def unmarked(column: Attribute): Metadata =
    new MetadataBuilder().withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey)
      .putLong(ClockMetadata.EventTimeLag, 0L)
      .build()
}
