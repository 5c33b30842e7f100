// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.functions.PairEventTime
import org.apache.spark.sql.types._

/**
 * The time of a row that a join returns.
 *
 * @param condition without what only stands for something else
 * @param clocks    of a join of streams
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

  /** A row whose partner's time is NULL has no partner, as one without a time matches nothing. */
  private def orUnmatched(
      side: Side,
      own: Attribute,
      other: Attribute,
      pair: Expression,
      time: PairEventTime): Expression =
    if (!output.keepsUnmatched(side)) pair
    else {
      val expiry = JoinWatermarks.expiries(join, side, other).of(condition) match {
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

  /** The watermark that the time has, if there is one. */
  def marked: Option[Metadata] = clocks.map { c =>
    val eventTimeLag = c.eventTimeLag
    val mark = new MetadataBuilder()
    (if (eventTimeLag == 0) mark.putLong(EventTimeWatermark.delayKey, 0L)
     else mark.putLong(JoinWatermarks.EventTimeLag, eventTimeLag))
      .build()
  }

  /** Whether a column has the watermark that the time is to have. */
  def isMarked(column: Attribute): Boolean =
    clocks.isDefined && column.metadata.contains(EventTimeWatermark.delayKey)

  /** What is left of it: joins of ours may still go by such a column. */
  def unmarked(column: Attribute): Metadata =
    new MetadataBuilder().withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey)
      .putLong(JoinWatermarks.EventTimeLag, 0L)
      .build()
}
