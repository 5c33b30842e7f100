// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  DecimalBound, EndpointEncoding, FloatingBound, IsTotal
}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side, WhyNot}
import org.apache.spark.sql.intervalsweep.functions.distances.DifferenceAtMost
import org.apache.spark.sql.types._

/** Matches an inequality as (lesser, greater, strict). */
private[condition] object Ordered {
  def unapply(e: Expression): Option[(Expression, Expression, Boolean)] = e match {
    case LessThan(l, r) => Some((l, r, true))
    case LessThanOrEqual(l, r) => Some((l, r, false))
    case GreaterThan(l, r) => Some((r, l, true))
    case GreaterThanOrEqual(l, r) => Some((r, l, false))
    case _ => None
  }
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
 * A conjunct that compares the two sides.
 *
 * @param boxes      its bounds with the rows of one side as boxes, for each side for which they
 *                   exist
 * @param inequality the inequality of two endpoints, if the conjunct is one
 */
private[condition] case class Comparison(
    conjunct: Conjunct,
    boxes: Map[Side, PointBounds],
    inequality: Option[Inequality] = None)

/**
 * Reads a conjunct as a [[Comparison]], or returns the reason why it is not one. The spelling does
 * not matter: `s.ts - r.ts <= 5` and `s.ts <= r.ts + 5` have the same bounds.
 */
private[condition] case class Comparisons(sides: Sides) {

  private val sums = LinearSums(sides)

  def of(conjunct: Conjunct): Either[WhyNot, Comparison] = {
    val (boxes, inequality) = conjunct.expression match {
      case Ordered(lesser, greater, strict) => compare(lesser, greater, strict)
      case EqualTo(l, r) => (equal(l, r), None)
      case d: DifferenceAtMost => (atMost(d), None)
      case _ => (Nil, None)
    }
    val found = boxes.toMap
    if (found.isEmpty) Left(reason(conjunct))
    else Right(Comparison(conjunct, found, inequality))
  }

  private type Boxes = Seq[(Side, PointBounds)]

  private def compare(
      lesser: Expression,
      greater: Expression,
      strict: Boolean): (Boxes, Option[Inequality]) = {
    def solvedFor(boxes: Side): Option[PointBounds] =
      sums.difference(lesser, greater, strict).flatMap(PointBounds.solved(_, strict, boxes))
    operands(lesser, greater).fold[(Boxes, Option[Inequality])]((boxesOf(solvedFor), None)) {
      case (l, g, side) =>
        val boxes = boxesOf { boxes =>
          val point = if (boxes == side) greater else lesser
          val direct =
            if (boxes == side) PointBounds.direct(g, l, strict, upper = false)
            else PointBounds.direct(l, g, strict, upper = true)
          if (hasConstant(point)) solvedFor(boxes).orElse(direct) else direct
        }
        val inequality = Option.when(l.hasValue && g.hasValue) {
          val exact = l.isExact || g.isExact
          Inequality(l.encoded, g.encoded, strict && exact, side, lesser.dataType, exact)
        }
        (boxes, inequality)
    }
  }

  /** The operands of expressions that belong to different sides, and the side of the first. */
  private def operands(a: Expression, b: Expression): Option[(Operand, Operand, Side)] =
    for {
      side <- sides.of(a) if sides.of(b).contains(side.other)
      if DataType.equalsStructurally(a.dataType, b.dataType, ignoreNullability = true)
      x <- Operand.of(a)
      y <- Operand.of(b)
    } yield (x, y, side)

  /**
   * Whether an expression adds a constant. As a point, `ts + 5` would differ from `ts`; solving
   * moves the constant to the bound, so that both are the same point.
   */
  private def hasConstant(e: Expression): Boolean = EndpointEncoding.strip(e) match {
    case ExactArithmetic(terms) => terms.exists { case (t, _) =>
        sides.isConstant(t) || hasConstant(t)
      }
    case _ => false
  }

  private def equal(a: Expression, b: Expression): Boxes = operands(a, b) match {
    case Some((x, y, side)) => boxesOf { boxes =>
        val (point, bound) = if (boxes == side) (y, x) else (x, y)
        both(
          PointBounds.direct(point, bound, strict = false, upper = true),
          PointBounds.direct(point, bound, strict = false, upper = false))
      }
    case None =>
      def solved(lesser: Expression, greater: Expression, boxes: Side): Option[PointBounds] =
        sums.difference(lesser, greater, strict = false)
          .flatMap(PointBounds.solved(_, strict = false, boxes))
      boxesOf(boxes => both(solved(a, b, boxes), solved(b, a, boxes)).map(_.joined))
  }

  private def both(a: Option[PointBounds], b: Option[PointBounds]): Option[PointBounds] =
    for (x <- a; y <- b; xy <- x.and(y)) yield xy

  private def atMost(d: DifferenceAtMost): Boxes = d.later.dataType match {
    case FloatType | DoubleType => boxesOf(near(d, _)(FloatingBound(_, d.limit, _)))
    case wide: DecimalType if !EndpointEncoding.isExact(wide) =>
      boxesOf(near(d, _)(DecimalBound(_, d.limit, wide.scale, _)))
    case _ =>
      val sum = for {
        later <- sums.endpoint(d.later)
        earlier <- sums.endpoint(d.earlier)
        limit <- sums.endpoint(d.limit)
      } yield later - earlier - limit
      boxesOf(boxes => sum.flatMap(PointBounds.solved(_, strict = false, boxes)))
  }

  /**
   * The bounds for types whose differences are not exact sums of LONGs.
   *
   * @param bound the bound on the point, from the other endpoint and whether it is an upper bound
   */
  private def near(d: DifferenceAtMost, boxes: Side)(
      bound: (Expression, Boolean) => Expression): Option[PointBounds] = {
    def bounded(point: Expression, anchor: Expression, upper: Boolean): Option[PointBounds] =
      Operand.of(point).filter(_.hasValue).map { point =>
        val end = BoundExpression(bound(anchor, upper), strict = false)
        val safe = if (IsTotal(anchor) && IsTotal(d.limit)) end else end.orOpen(upper)
        PointBounds.bounded(point.encoded, safe, upper, exact = false)
      }
    val limited = sides.isConstant(d.limit) || sides.of(d.limit).contains(boxes)
    (sides.of(d.later), sides.of(d.earlier)) match {
      case (Some(later), Some(`boxes`)) if limited && later != boxes =>
        bounded(d.later, d.earlier, upper = true)
      case (Some(`boxes`), Some(earlier)) if limited && earlier != boxes =>
        bounded(d.earlier, d.later, upper = false)
      case _ => None
    }
  }

  private def boxesOf(bounds: Side => Option[PointBounds]): Boxes =
    Seq(LeftSide, RightSide).flatMap(side => bounds(side).map(side -> _))

  private def reason(conjunct: Conjunct): WhyNot = conjunct.expression match {
    case e @ (_: BinaryComparison | _: DifferenceAtMost) if sides.isAcross(e) =>
      e.children.find(c => sides.isAcross(c)).map(WhyNot.CrossSide(_, conjunct.written))
        .orElse(e.children.find(c => !EndpointEncoding.isSupported(c.dataType))
          .map(WhyNot.UnsupportedEndpoint(_, conjunct.written)))
        .getOrElse(WhyNot.CrossSide(e, conjunct.written))
    case e => WhyNot.NoRange(e)
  }
}
