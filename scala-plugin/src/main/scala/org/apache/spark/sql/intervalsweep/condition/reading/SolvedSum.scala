// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.ExactSum
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * The comparison `sum <= 0`, or `sum < 0` if strict, solved for the terms of the point side:
 * {{{
 *   p + B <= 0   is   p <= -B         B - p <= 0   is   p >= B
 * }}}
 * The bound is computed in exact integers, but Spark's arithmetic may wrap. If that can mislead
 * (see [[OverflowSite]]), the bound is not valid for all points:
 * {{{
 *   sites that can mislead       bound
 *   none                         -B or B
 *   one, and p is one term       -B or B, within a [[ValidRange]]
 *   other                        open for each row for which some point can make a site wrap,
 *                                -B or B for the other rows
 * }}}
 * The bound is also open for rows for which B cannot be computed.
 *
 * @param point  the terms of the point side
 * @param others B: the terms of the box side, and constants
 */
private[reading] case class SolvedSum(
    sum: LinearSum,
    strict: Boolean,
    boxes: Side,
    point: SolvedPoint,
    others: Seq[Term]) {
  private val upper = !point.isSubtracted
  private val isComputable = others.forall(_.operand.hasValue)
  private val sites = sum.wrappings.filter(_.mayMislead).map(WrappingSite(_, boxes))

  def bounds: PointBounds = validRange match {
    // Not NULL: a box without matches within the range may have matches beyond it.
    case Some(range) => bounded(bound(nullIfNone = false)).copy(validRanges = Seq(range))
    case None => bounded(everywhere)
  }

  private def bounded(end: BoundExpression): PointBounds = PointBounds.bounded(
    point.expression,
    end,
    upper,
    exact = isComputable && sum.slack == 0 && !sum.mayWrap)

  /** @param nullIfNone whether the bound is NULL (no match) if no LONG is within it */
  private def bound(nullIfNone: Boolean): BoundExpression = {
    val slack = sum.slack - (if (strict) 1 else 0)
    val end = ExactTerms.sum(
      if (upper) others.map(_.negated) else others,
      if (upper) slack else -slack,
      nullIfBelow = nullIfNone && upper,
      nullIfAbove = nullIfNone && !upper)
    BoundExpression(end, strict = false)
  }

  /** The bound that is valid for all points. */
  private def everywhere: BoundExpression = {
    val end = bound(nullIfNone = true)
    val canMislead = sites.map(_.canMislead).reduceOption(Or)
    val guarded = canMislead.fold(end) { unsafe =>
      end.copy(bound = If(unsafe, BoundExpression.open(upper), end.bound))
    }
    if (isComputable) guarded else guarded.orOpen(upper)
  }

  private def validRange: Option[ValidRange] = sites match {
    case Seq(site) if isComputable && point.isOneTerm =>
      site.lastPoint(upper).map(ValidRange(_, upper, everywhere))
    case _ => None
  }
}

private[reading] object SolvedSum {

  /**
   * The bounds for the rows of `boxes`. None if the sum has no terms of one of the sides, or if
   * those of the point side cannot be computed for every row.
   */
  def bounds(sum: LinearSum, strict: Boolean, boxes: Side): Option[PointBounds] = {
    val (points, others) = ExactTerms.split(sum.terms, boxes)
    for (point <- SolvedPoint.of(points) if others.exists(_.side.isDefined))
      yield SolvedSum(sum, strict, boxes, point, others).bounds
  }
}

/** @param isSubtracted whether the comparison has `- expression`, and not `+ expression` */
private[reading] case class SolvedPoint(
    expression: Expression,
    isSubtracted: Boolean,
    isOneTerm: Boolean)

private[reading] object SolvedPoint {

  /** Several terms are added up if their sum cannot overflow. */
  def of(terms: Seq[Term]): Option[SolvedPoint] = terms match {
    case _ if !terms.forall(_.operand.hasValue) => None
    case Seq() => None
    case Seq(term) => Some(SolvedPoint(term.operand.encoded, term.negative, isOneTerm = true))
    case several =>
      Option.when(ValueRange.Long.contains(ValueRange.sum(several.map(_.signed)))) {
        SolvedPoint(ExactTerms.sum(several, 0), isSubtracted = false, isOneTerm = false)
      }
  }
}

/** A site at which wrapping can mislead, for a row of the side `boxes`. */
private case class WrappingSite(site: OverflowSite, boxes: Side) {
  private val (points, others) = ExactTerms.split(site.terms, boxes)

  /** Whether some point can bring the sum of the row beyond the end at which wrapping misleads. */
  def canMislead: Expression = {
    val reach = ValueRange.sum(points.map(_.signed) ++ site.others)
    val farthest = if (site.misleadsAbove) reach.high else reach.low
    val beyond = ExactTerms.sum(others, farthest - site.misleadingEnd)
    if (site.misleadsAbove) GreaterThan(beyond, Literal(0L)) else LessThan(beyond, Literal(0L))
  }

  /**
   * The last point that does not bring the sum of the row beyond that end: `p + A <= end` is
   * `p <= end - A`. None if the sum has other terms than one point and numbers of the box side, or
   * if the last point may lie outside of the LONGs.
   */
  def lastPoint(upper: Boolean): Option[Expression] = points match {
    case Seq(point) if site.others.isEmpty =>
      val moved = if (point.negative) others else others.map(_.negated)
      val end = if (point.negative) -site.misleadingEnd else site.misleadingEnd
      val range = ValueRange.sum(moved.map(_.signed)) + ValueRange(end, end)
      val isLong =
        if (upper) range.low >= ValueRange.Long.low else range.high <= ValueRange.Long.high
      Option.when(isLong)(ExactTerms.sum(moved, end))
    case _ => None
  }
}

/** Terms as an expression. */
private object ExactTerms {

  /** The terms of the point side, and the other terms. */
  def split(terms: Seq[Term], boxes: Side): (Seq[Term], Seq[Term]) =
    terms.partition(_.side.contains(boxes.other))

  /** The sum of terms and a constant, with one literal for all constants. */
  def sum(
      terms: Seq[Term],
      constant: BigInt,
      nullIfBelow: Boolean = false,
      nullIfAbove: Boolean = false): Expression = {
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
