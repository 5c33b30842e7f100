// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EndpointEncoding, ExactSum, IsTotal, NarrowedBound
}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.types.{DataType, DecimalType, IntegralType}

/**
 * A comparison, read with the rows of one side as boxes: the `point` of the other side must lie
 * within the bounds.
 *
 * @param exact       whether the bounds are equivalent to the comparison. If not, they are
 *                    necessary for it but not sufficient, and the comparison stays in the residual
 *                    condition
 * @param validRanges the ranges of points for which the bounds are valid, at most one for each
 *                    bound. A bound without a range is valid for all points
 */
private[condition] case class PointBounds(
    point: Expression,
    lower: Option[BoundExpression],
    upper: Option[BoundExpression],
    exact: Boolean,
    validRanges: Seq[ValidRange] = Nil) {

  /** The conjunction of both, if they bound the same point. */
  def and(other: PointBounds): Option[PointBounds] =
    Option.when(point.semanticEquals(other.point)) {
      PointBounds(
        point,
        lower.orElse(other.lower),
        upper.orElse(other.upper),
        exact && other.exact,
        validRanges ++ other.validRanges)
    }

  /**
   * Merges the two ends of an exact equality into one expression, so that they share an endpoint.
   */
  def joined: PointBounds = (exact, upper.map(_.bound)) match {
    case (true, Some(sum: ExactSum)) =>
      val end =
        Some(BoundExpression(sum.copy(nullIfBelow = true, nullIfAbove = true), strict = false))
      copy(lower = end, upper = end)
    case _ => this
  }

  /** The bounds that are valid for all points. */
  def everywhere: PointBounds =
    copy(
      lower = endEverywhere(isUpper = false).orElse(lower),
      upper = endEverywhere(isUpper = true).orElse(upper),
      validRanges = Nil)

  private def endEverywhere(isUpper: Boolean): Option[BoundExpression] =
    validRanges.findLast(_.upper == isUpper).map(_.everywhere)
}

/**
 * `lesser < greater` or `lesser <= greater` between encoded endpoints.
 *
 * @param exact whether it is equivalent to the comparison. If not, it compares prefixes
 */
private[condition] case class Inequality(
    lesser: Expression,
    greater: Expression,
    strict: Boolean,
    lesserSide: Side,
    dataType: DataType,
    exact: Boolean)

/**
 * The range of points for which a derived bound is exact, although the arithmetic of the comparison
 * wraps. Example with BYTE: `b.t - a.t <= 5` is equivalent to `b.t <= a.t + 5` as long as
 * `b.t <= a.t + 127`. For points beyond that, the difference wraps to a negative number, and the
 * comparison is true as well.
 *
 * @param end        the last point of the range, inclusive. The bound says nothing about points
 *                   beyond it
 * @param upper      whether the bound is an upper bound, and `end` the largest point of the range
 * @param everywhere a bound that is valid for all points. It is open for rows of the box side for
 *                   which some point can lie beyond `end`
 */
private[condition] case class ValidRange(
    end: Expression,
    upper: Boolean,
    everywhere: BoundExpression)

private[condition] object PointBounds {

  /**
   * The bound from a comparison of two endpoints. None if the point cannot be computed for every
   * row. If both encodings are prefixes, the bound is inclusive and not exact: of two values with
   * the same prefix, either may be the larger.
   */
  def direct(point: Operand, bound: Operand, strict: Boolean, upper: Boolean): Option[PointBounds] =
    Option.when(point.hasValue) {
      val isExact = point.isExact || bound.isExact
      val end = BoundExpression(bound.encoded, strict && isExact)
      bounded(
        point.encoded,
        if (bound.hasValue) end else end.orOpen(upper),
        upper,
        bound.hasValue && isExact)
    }

  /**
   * The bound from a comparison whose point was widened to a DECIMAL, on the number before it was
   * widened. So it is the same point in comparisons with decimals of several scales, such as
   * `a.n BETWEEN b.n * 0.9 AND b.n * 1.25`.
   */
  def narrowed(
      point: Expression,
      bound: Expression,
      strict: Boolean,
      upper: Boolean): Option[PointBounds] =
    for {
      number <- Option(unwidened(point)) if bound.dataType.isInstanceOf[DecimalType]
      if point.dataType.isInstanceOf[DecimalType] &&
        !number.semanticEquals(EndpointEncoding.strip(point))
      if EndpointEncoding.isExact(number.dataType)
      operand <- Operand.of(number) if operand.hasValue
    } yield {
      val end = NarrowedBound(bound, scaleOf(number.dataType), strict, upper)
      val inclusive = BoundExpression(end, strict = false)
      val isTotal = IsTotal(bound)
      bounded(
        operand.encoded,
        if (isTotal) inclusive else inclusive.orOpen(upper),
        upper,
        exact = isTotal)
    }

  /** A number before it was cast to decimals that have all of its digits. */
  private def unwidened(e: Expression): Expression = EndpointEncoding.strip(e) match {
    case Cast(number, to: DecimalType, _, _)
        if isCounted(number.dataType) && Cast.canUpCast(number.dataType, to) => unwidened(number)
    case other => other
  }

  private def isCounted(dataType: DataType): Boolean =
    dataType.isInstanceOf[IntegralType] || dataType.isInstanceOf[DecimalType]

  private def scaleOf(number: DataType): Int = number match {
    case d: DecimalType => d.scale
    case _ => 0
  }

  def bounded(
      point: Expression,
      end: BoundExpression,
      upper: Boolean,
      exact: Boolean): PointBounds =
    PointBounds(point, Option.when(!upper)(end), Option.when(upper)(end), exact)
}
