// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{Conjunct, OpenComparison, Sides}
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  DecimalBound, EndpointEncoding, FloatingBound, IsTotal, TimestampDifference
}
import org.apache.spark.sql.intervalsweep.condition.model.{Side, WhyNot}
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

/** A constant LONG. */
private object WholeNumber {
  def unapply(e: Expression): Option[BigInt] =
    if (e.foldable && e.dataType == LongType)
      Try(e.eval()).toOption.collect { case number: Long => BigInt(number) }
    else None
}

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
 *
 * @param notNull columns that are not NULL in any matching pair
 */
private[condition] case class Comparisons(
    sides: Sides,
    notNull: AttributeSet = AttributeSet.empty) {

  private val sums = LinearSums(sides)

  private type Boxes = Map[Side, PointBounds]

  def of(conjunct: Conjunct): Either[WhyNot, Comparison] = {
    val boxes = boxesOf(conjunct.expression)
    if (boxes.isEmpty) Left(reason(conjunct))
    else Right(Comparison(conjunct, boxes, inequalityOf(conjunct.expression)))
  }

  private def boxesOf(e: Expression): Boxes = e match {
    case Ordered(lesser, greater, strict) => ordered(lesser, greater, strict)
    case EqualTo(l, r) => equal(l, r)
    case d: DifferenceAtMost => atMost(d)
    case open: OpenComparison =>
      for {
        (side, bounds) <- boxesOf(open.comparison)
        opened <- OpenBounds(sides, open, notNull).bounds(bounds, side)
      } yield side -> opened
    case _ => Map.empty
  }

  private def inequalityOf(e: Expression): Option[Inequality] = e match {
    case Ordered(lesser, greater, strict) =>
      for ((l, g, side) <- operands(lesser, greater) if l.hasValue && g.hasValue) yield {
        val exact = l.isExact || g.isExact
        Inequality(l.encoded, g.encoded, strict && exact, side, lesser.dataType, exact)
      }
    case open: OpenComparison =>
      inequalityOf(open.comparison).map(OpenBounds(sides, open, notNull).inequality)
    case _ => None
  }

  private def ordered(lesser: Expression, greater: Expression, strict: Boolean): Boxes =
    operands(lesser, greater) match {
      case Some((l, g, lesserSide)) => bySide { boxes =>
          val isUpper = boxes != lesserSide
          val (point, bound) = if (isUpper) (l, g) else (g, l)
          val (of, by) = if (isUpper) (lesser, greater) else (greater, lesser)
          val direct = PointBounds.narrowed(of, by, strict, isUpper)
            .orElse(PointBounds.direct(point, bound, strict, isUpper))
          if (hasConstant(of))
            solved(lesser, greater, strict, boxes).orElse(direct)
          else direct
        }
      case None => bySide { boxes =>
          solved(lesser, greater, strict, boxes).orElse(rounded(lesser, greater, boxes))
            .orElse(truncated(lesser, greater, strict, boxes))
        }
    }

  /**
   * The bounds from a difference of fractions, whose arithmetic rounds. A difference that is NaN is
   * more than every limit. So a NaN of the point side may match all boxes if the difference is the
   * greater operand; only the other side can then be boxes.
   */
  private def rounded(lesser: Expression, greater: Expression, boxes: Side): Option[PointBounds] =
    (lesser, greater) match {
      case (FractionDifference(difference), limit) => difference.bounds(limit, boxes, sides)
      case (limit, FractionDifference(difference))
          if sides.of(difference.later).contains(boxes.other) =>
        difference.negated.bounds(UnaryMinus(limit, failOnError = false), boxes, sides)
      case _ => None
    }

  /** The bounds from a difference in whole units. They admit up to one unit too much. */
  private def truncated(
      lesser: Expression,
      greater: Expression,
      strict: Boolean,
      boxes: Side): Option[PointBounds] = {
    def within(d: TimestampDifference, units: BigInt): Option[PointBounds] =
      for {
        time <- Some(d.longestTime(units)) if time.isValidLong
        limit <- sums.of(Literal(time.toLong))
        later <- sums.of(d.later)
        earlier <- sums.of(d.earlier)
        sum = later - earlier - limit
        // The slack also says that the bounds are not exact.
        wide = sum.copy(slack = sum.slack + WallClock.slack(d.zone) + 1)
        bounds <- SolvedSum.bounds(wide, strict = false, boxes)
      } yield bounds
    val step = if (strict) 1 else 0
    (lesser, greater) match {
      case (TimestampDifference(d), WholeNumber(limit)) => within(d, limit - step)
      case (WholeNumber(limit), TimestampDifference(d)) => within(d.negated, -limit - step)
      case _ => None
    }
  }

  /** The bounds from `lesser - greater`. */
  private def solved(
      lesser: Expression,
      greater: Expression,
      strict: Boolean,
      boxes: Side): Option[PointBounds] =
    sums.difference(lesser, greater, strict).flatMap(SolvedSum.bounds(_, strict, boxes))

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
    case Some((x, y, side)) => bySide { boxes =>
        val (point, bound) = if (boxes == side) (y, x) else (x, y)
        both(
          PointBounds.direct(point, bound, strict = false, upper = true),
          PointBounds.direct(point, bound, strict = false, upper = false))
      }
    case None => bySide { boxes =>
        both(solved(a, b, strict = false, boxes), solved(b, a, strict = false, boxes))
          .map(_.joined)
          .orElse(both(
            truncated(a, b, strict = false, boxes),
            truncated(b, a, strict = false, boxes)))
      }
  }

  private def both(a: Option[PointBounds], b: Option[PointBounds]): Option[PointBounds] =
    for (x <- a; y <- b; xy <- x.and(y)) yield xy

  private def atMost(d: DifferenceAtMost): Boxes = d.later.dataType match {
    case FloatType | DoubleType => bySide(near(d, _)(FloatingBound(_, d.limit, _)))
    case wide: DecimalType if !EndpointEncoding.isExact(wide) =>
      bySide(near(d, _)(DecimalBound(_, d.limit, wide.scale, _)))
    case _ =>
      val sum = for {
        later <- sums.endpoint(d.later)
        earlier <- sums.endpoint(d.earlier)
        limit <- sums.endpoint(d.limit)
      } yield later - earlier - limit
      bySide(boxes => sum.flatMap(SolvedSum.bounds(_, strict = false, boxes)))
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

  /** @param bounds the bounds with the rows of a side as boxes */
  private def bySide(bounds: Side => Option[PointBounds]): Boxes =
    Side.all.flatMap(side => bounds(side).map(side -> _)).toMap

  private def reason(conjunct: Conjunct): WhyNot = conjunct.expression match {
    case e @ (_: BinaryComparison | _: DifferenceAtMost) if sides.isAcross(e) =>
      e.children.find(c => sides.isAcross(c)).map(WhyNot.CrossSide(_, conjunct.written))
        .orElse(e.children.find(c => !EndpointEncoding.isSupported(c.dataType))
          .map(WhyNot.UnsupportedEndpoint(_, conjunct.written)))
        .orElse(e.children.find(c => !sides.isAcross(c) && !IsTotal(c))
          .map(WhyNot.MayFail(_, conjunct.written)))
        .getOrElse(WhyNot.CrossSide(e, conjunct.written))
    case e => WhyNot.NoRange(e)
  }
}
