// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.ExactSum
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * A comparison, read with the rows of one side as boxes: the `point` of the other side must lie
 * within the bounds.
 *
 * @param exact whether the bounds are equivalent to the comparison. If not, they are necessary for
 *              it but not sufficient, and the comparison stays in the residual condition
 * @param cores the ranges of points for which the bounds are valid; see [[ValidRange]]
 */
private[condition] case class PointBounds(
    point: Expression,
    lower: Option[BoundExpression],
    upper: Option[BoundExpression],
    exact: Boolean,
    cores: Seq[ValidRange] = Nil) {

  /** The conjunction of both, if they bound the same point. */
  def and(other: PointBounds): Option[PointBounds] =
    Option.when(point.semanticEquals(other.point)) {
      PointBounds(
        point,
        lower.orElse(other.lower),
        upper.orElse(other.upper),
        exact && other.exact,
        cores ++ other.cores)
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
  def everywhere: PointBounds = cores.foldLeft(copy(cores = Nil)) { (bounds, core) =>
    if (core.upper) bounds.copy(upper = Some(core.everywhere))
    else bounds.copy(lower = Some(core.everywhere))
  }
}

/**
 * The range of points for which a derived bound is exact, although the arithmetic of the comparison
 * wraps. Example with BYTE: `b.t - a.t <= 5` is equivalent to `b.t <= a.t + 5` as long as
 * `b.t <= a.t + 127`. For points beyond that, the difference wraps to a negative number, and the
 * comparison is true as well.
 *
 * @param end        the last point of the range, inclusive. The bound says nothing about points
 *                   beyond it
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

  def bounded(
      point: Expression,
      end: BoundExpression,
      upper: Boolean,
      exact: Boolean): PointBounds =
    PointBounds(point, Option.when(!upper)(end), Option.when(upper)(end), exact)

  /**
   * Solves `sum <= 0`, or `sum < 0` if strict, for the terms of the point side:
   * {{{
   *   p + B <= 0   is   p <= -B         B - p <= 0   is   p >= B
   * }}}
   * None if the sum has no terms of the point side, or if these cannot be computed for every row.
   */
  def solved(sum: LinearSum, strict: Boolean, boxes: Side): Option[PointBounds] = {
    val (points, others) = sum.terms.partition(_.side.contains(boxes.other))
    for {
      (point, negative) <- pointOf(points) if others.exists(_.side.isDefined)
    } yield {
      val upper = !negative
      val slack = sum.slack - (if (strict) 1 else 0)
      val bound = BoundExpression(
        exactSum(
          if (upper) others.map(_.negated) else others,
          if (upper) slack else -slack,
          nullIfBelow = upper,
          nullIfAbove = !upper),
        strict = false)
      val computable = others.forall(_.operand.hasValue)
      val wraps = sum.wrappings.filter(_.mayMislead)
      val guards = wraps.map(beyondType(_, boxes)).reduceOption(Or)
      val guarded = bound.copy(bound =
        guards.fold(bound.bound)(If(_, BoundExpression.open(upper), bound.bound)))
      val everywhere = if (computable) guarded else guarded.orOpen(upper)
      val exact = computable && sum.slack == 0 && !sum.mayWrap
      wraps match {
        case Seq(wrap) if computable && points.length == 1 =>
          coreOf(wrap, upper, boxes).fold(bounded(point, everywhere, upper, exact)) { core =>
            // Not NULL: a box without matches within the core may have matches beyond it.
            val notNull = bound.copy(bound = bound.bound match {
              case s: ExactSum => s.copy(nullIfBelow = false, nullIfAbove = false)
              case other => other
            })
            bounded(point, notNull, upper, exact).copy(cores =
              Seq(ValidRange(core, upper, everywhere)))
          }
        case _ => bounded(point, everywhere, upper, exact)
      }
    }
  }

  /**
   * The point and whether it is subtracted. Several terms are added up if the sum cannot overflow.
   */
  private def pointOf(terms: Seq[Term]): Option[(Expression, Boolean)] = terms match {
    case _ if !terms.forall(_.operand.hasValue) => None
    case Seq(term) => Some(term.operand.encoded -> term.negative)
    case Seq() => None
    case _ =>
      Option.when(ValueRange.Long.contains(ValueRange.sum(terms.map(_.signed)))) {
        exactSum(terms, 0, nullIfBelow = false, nullIfAbove = false) -> false
      }
  }

  /**
   * A condition on a row of the box side: some point can bring the sum beyond the end of the type
   * at which wrapping misleads.
   */
  private def beyondType(w: OverflowSite, boxes: Side): Expression = {
    val (points, others) = w.terms.partition(_.side.contains(boxes.other))
    val reach = ValueRange.sum(points.map(_.signed) ++ w.others)
    val farthest = if (w.misleadsAbove) reach.high else reach.low
    val beyond =
      exactSum(others, farthest - w.misleadingEnd, nullIfBelow = false, nullIfAbove = false)
    if (w.misleadsAbove) GreaterThan(beyond, Literal(0L)) else LessThan(beyond, Literal(0L))
  }

  /**
   * The last point that does not bring a row's sum beyond that end: `p + A <= end` is
   * `p <= end - A`. None if the sum has other terms than one point and numbers of the box side, or
   * if the last point may lie outside of the LONGs.
   */
  private def coreOf(w: OverflowSite, upper: Boolean, boxes: Side): Option[Expression] = {
    val (points, others) = w.terms.partition(_.side.contains(boxes.other))
    points match {
      case Seq(point) if w.others.isEmpty =>
        val negated = if (point.negative) others else others.map(_.negated)
        val end = if (point.negative) -w.misleadingEnd else w.misleadingEnd
        val range = ValueRange.sum(negated.map(_.signed)) + ValueRange(end, end)
        Option.when(if (upper) range.low >= ValueRange.Long.low
        else range.high <= ValueRange.Long.high) {
          exactSum(negated, end, nullIfBelow = false, nullIfAbove = false)
        }
      case _ => None
    }
  }

  private def exactSum(
      terms: Seq[Term],
      constant: BigInt,
      nullIfBelow: Boolean,
      nullIfAbove: Boolean): Expression = {
    val (literals, others) = terms.partition(_.operand.encoded match {
      case Literal(_: Long, _) => true
      case _ => false
    })
    val known = longs(constant + literals.map(_.signed.low).sum)
    val sum = ExactSum(
      others.map(_.operand.encoded) ++ known.map(Literal(_)),
      others.map(_.negative) ++ known.map(_ => false),
      nullIfBelow,
      nullIfAbove)
    sum match {
      case ExactSum(Seq(), _, _, _) => Literal(0L)
      // A single term needs no sum: so it shares its endpoint with other comparisons of this term.
      case ExactSum(Seq(term), Seq(false), _, _) => term
      case _ => sum
    }
  }

  /** LONGs whose sum is the number. */
  private def longs(number: BigInt): Seq[Long] =
    if (number == 0) Nil
    else {
      val first = number.max(ValueRange.Long.low).min(ValueRange.Long.high)
      first.toLong +: longs(number - first)
    }
}
