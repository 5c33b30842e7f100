// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{OpenComparison, Sides}
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EncodedEndpoint, EndpointEncoding, ExactSum, IsTotal
}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.types._

/**
 * The bounds of a comparison that is waived for some rows ([[OpenComparison]]). A bound is infinite
 * for rows of the box side for which it is waived. A point of the other side for which it is waived
 * gets the value that is within all bounds:
 * {{{
 *   at < te OR te IS NULL        boxes over te    at < if(te IS NULL, infinity, te)
 *                                points te        if(te IS NULL, infinity, te) > at
 * }}}
 * Infinity is the smallest or the largest LONG. Values of some types have this encoding, too. There
 * a strict bound `at < te` becomes `at <= te - 1`, so that infinity is within all bounds.
 *
 * A row whose other operand is NULL matches the rows for which the comparison is waived. So NULL
 * becomes a value, and the comparison stays in the residual condition, unless a further conjunct
 * excludes NULL.
 *
 * @param notNull columns that are not NULL in any matching pair
 */
private[reading] case class OpenBounds(sides: Sides, open: OpenComparison, notNull: AttributeSet) {

  private val isExact = IsTotal(open.comparison)

  /** Whether the comparison is waived for a row of a side. */
  private def waived(side: Side): Option[Expression] =
    open.exceptions.filter(e => sides.isConstant(e) || sides.of(e).contains(side))
      .filterNot {
        case IsNull(child) => isNotNull(child)
        case _ => false
      }
      .reduceOption(Or)

  /** None if the points of an equality would need two values. */
  def bounds(of: PointBounds, boxes: Side): Option[PointBounds] = {
    val b = of.everywhere
    val (onBoxes, onPoints) = (waived(boxes), waived(boxes.other))
    val isUpper = b.upper.isDefined
    if (onPoints.isDefined && isUpper && b.lower.isDefined) None
    else {
      val ends = (b.lower ++ b.upper).toSeq
      val isTight = ends.exists(_.strict) && !(ends.map(_.bound) :+ b.point).forall(isFinite)
      val point = onPoints.fold(b.point) { waived =>
        val value = if (isTight) moved(b.point, up = isUpper) else b.point
        infiniteIf(waived, value, upper = !isUpper)
      }
      val neverNull = (onBoxes.isEmpty || isNotNull(b.point)) &&
        (onPoints.isEmpty || ends.forall(e => isNotNull(e.bound)))
      def end(e: BoundExpression, upper: Boolean): BoundExpression = {
        val inclusive =
          if (isTight && onPoints.isEmpty) BoundExpression(e.inclusive(upper), strict = false)
          else e.copy(strict = e.strict && !isTight && neverNull)
        val value = if (onPoints.isDefined) valued(inclusive.bound) else inclusive.bound
        inclusive.copy(bound = onBoxes.fold(value)(infiniteIf(_, value, upper)))
      }
      val isDecided =
        isExact && neverNull && !(isTight && onBoxes.isDefined && onPoints.isDefined)
      Some(PointBounds(
        if (onBoxes.isDefined) valued(point) else point,
        b.lower.map(end(_, upper = false)),
        b.upper.map(end(_, upper = true)),
        b.exact && isDecided))
    }
  }

  def inequality(of: Inequality): Inequality = {
    val (onLesser, onGreater) = (waived(of.lesserSide), waived(of.lesserSide.other))
    val isTight = of.strict && !(isFinite(of.lesser) && isFinite(of.greater))
    // The operand that is moved: one that can be infinite.
    val lesser = if (isTight && onLesser.isDefined) moved(of.lesser, up = true) else of.lesser
    val greater =
      if (isTight && onLesser.isEmpty) moved(of.greater, up = false) else of.greater
    def opened(
        e: Expression,
        own: Option[Expression],
        other: Option[Expression],
        upper: Boolean) = {
      val value = if (other.isDefined) valued(e) else e
      own.fold(value)(infiniteIf(_, value, upper))
    }
    val neverNull = (onGreater.isEmpty || isNotNull(of.lesser)) &&
      (onLesser.isEmpty || isNotNull(of.greater))
    of.copy(
      lesser = opened(lesser, onLesser, onGreater, upper = false),
      greater = opened(greater, onGreater, onLesser, upper = true),
      strict = of.strict && !isTight && neverNull,
      exact = of.exact && isExact && neverNull &&
        !(isTight && onLesser.isDefined && onGreater.isDefined))
  }

  private def infiniteIf(waived: Expression, value: Expression, upper: Boolean): Expression =
    (waived, value) match {
      case (IsNull(end), EncodedEndpoint(child)) if child.semanticEquals(end) =>
        Coalesce(Seq(value, infinity(upper)))
      case _ => If(waived, infinity(upper), value)
    }

  private def infinity(upper: Boolean): Literal = BoundExpression.open(upper)

  private def moved(e: Expression, up: Boolean): Expression =
    ExactSum(Seq(e, Literal(1L)), Seq(false, !up), nullIfBelow = !up, nullIfAbove = up)

  /** The value, or the smallest LONG for NULL. It is within all bounds that are waived. */
  private def valued(e: Expression): Expression =
    if (isNotNull(e)) e else Coalesce(Seq(e, infinity(upper = false)))

  private def isNotNull(e: Expression): Boolean = !e.transform {
    case a: Attribute if notNull.contains(a) => a.withNullability(false)
  }.nullable

  /** Whether no value has the smallest or the largest LONG as its encoding. */
  private def isFinite(e: Expression): Boolean = e match {
    case Literal(value: Long, _) => value != Long.MinValue && value != Long.MaxValue
    case EncodedEndpoint(child) => child.dataType match {
        case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => false
        case other => EndpointEncoding.isExact(other)
      }
    case _ => false
  }
}

private[reading] object OpenBounds {

  /** The columns that are not NULL if a comparison is true. */
  def notNull(comparison: Expression): AttributeSet = comparison match {
    case a: Attribute => AttributeSet(a)
    case IsNotNull(child) => notNull(child)
    case e if e.nullIntolerant => AttributeSet(e.children.flatMap(notNull(_)))
    case _ => AttributeSet.empty
  }
}
