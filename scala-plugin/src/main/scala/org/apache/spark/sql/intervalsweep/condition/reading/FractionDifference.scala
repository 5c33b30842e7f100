// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Sides
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  DecimalBound, DifferenceBound, IsTotal
}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.types._

/**
 * `later - earlier`, a difference of FLOAT, DOUBLE or DECIMAL. DECIMAL is exact; the others round.
 */
private[reading] case class FractionDifference(
    later: Expression,
    earlier: Expression,
    dataType: DataType) {

  def negated: FractionDifference = copy(later = earlier, earlier = later)

  /**
   * The bounds from `later - earlier <= limit`. They may admit too many points, never too few. None
   * if the operands are not of different sides, or the limit is of the side of the points.
   */
  def bounds(limit: Expression, boxes: Side, sides: Sides): Option[PointBounds] = {
    val isLimited = sides.isConstant(limit) || sides.of(limit).contains(boxes)
    (sides.of(later), sides.of(earlier)) match {
      case (Some(a), Some(`boxes`)) if isLimited && a != boxes =>
        bounded(later, earlier, limit, upper = true)
      case (Some(`boxes`), Some(b)) if isLimited && b != boxes =>
        bounded(earlier, later, limit, upper = false)
      case _ => None
    }
  }

  private def bounded(
      point: Expression,
      anchor: Expression,
      limit: Expression,
      upper: Boolean): Option[PointBounds] =
    for {
      operand <- Operand.of(point) if operand.hasValue
      bound <- bound(point.dataType, anchor, limit, upper)
    } yield {
      val end = BoundExpression(bound, strict = false)
      val safe = if (IsTotal(anchor) && IsTotal(limit)) end else end.orOpen(upper)
      PointBounds.bounded(operand.encoded, safe, upper, exact = false)
    }

  private def bound(
      point: DataType,
      anchor: Expression,
      limit: Expression,
      upper: Boolean): Option[Expression] = (dataType, point, limit.dataType) match {
    case (DecimalType.Fixed(_, scale), of: DecimalType, _: DecimalType | DoubleType)
        if Seq(later, earlier).forall(e => isWithin(e.dataType, scale)) =>
      Some(DecimalBound(anchor, limit, of.scale, upper))
    case (FloatType | DoubleType, _, FloatType | DoubleType) =>
      Some(DifferenceBound(anchor, limit, upper, single = dataType == FloatType))
    case _ => None
  }

  /** Whether all digits after the point are kept by a difference of this scale. */
  private def isWithin(operand: DataType, scale: Int): Boolean = operand match {
    case d: DecimalType => d.scale <= scale
    case _ => false
  }
}

private[reading] object FractionDifference {

  def unapply(e: Expression): Option[FractionDifference] = e match {
    case Subtract(later, earlier, _) if isFraction(e.dataType) =>
      Some(FractionDifference(later, earlier, e.dataType))
    case UnaryMinus(FractionDifference(difference), _) => Some(difference.negated)
    case Cast(FractionDifference(difference), to, _, _) if keepsValue(difference.dataType, to) =>
      Some(difference)
    case _ => None
  }

  private def isFraction(dataType: DataType): Boolean = dataType match {
    case FloatType | DoubleType | _: DecimalType => true
    case _ => false
  }

  private def keepsValue(from: DataType, to: DataType): Boolean = (from, to) match {
    case (f: DecimalType, t: DecimalType) =>
      f.scale <= t.scale && f.precision - f.scale <= t.precision - t.scale
    case (FloatType, DoubleType) => true
    case _ => from == to
  }
}
