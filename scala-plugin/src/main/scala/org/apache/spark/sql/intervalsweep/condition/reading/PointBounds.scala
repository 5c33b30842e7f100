// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.ExactSum
import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * What a comparison says when one side is boxes: the `point` of the other side is within the
 * bounds.
 *
 * @param exact whether it says all that the comparison does; if not, it says less
 * @param cores where it holds; see [[ValidRange]]
 */
private[condition] case class PointBounds(
    point: Expression,
    lower: Option[BoundExpression],
    upper: Option[BoundExpression],
    exact: Boolean,
    cores: Seq[ValidRange] = Nil) {

  /** What both say of one point. */
  def and(other: PointBounds): Option[PointBounds] =
    Option.when(point.semanticEquals(other.point)) {
      PointBounds(
        point,
        lower.orElse(other.lower),
        upper.orElse(other.upper),
        exact && other.exact,
        cores ++ other.cores)
    }

  /** For an equality that is exact: both ends as the one expression that they are. */
  def joined: PointBounds = (exact, upper.map(_.bound)) match {
    case (true, Some(sum: ExactSum)) =>
      val end =
        Some(BoundExpression(sum.copy(nullIfBelow = true, nullIfAbove = true), strict = false))
      copy(lower = end, upper = end)
    case _ => this
  }

  /** The bounds that hold for all points. */
  def everywhere: PointBounds = cores.foldLeft(copy(cores = Nil)) { (bounds, core) =>
    if (core.upper) bounds.copy(upper = Some(core.everywhere))
    else bounds.copy(lower = Some(core.everywhere))
  }
}

/**
 * How far the bound of a comparison can be believed whose arithmetic wraps around. E.g. in BYTE,
 * `b.t - a.t <= 5` is `b.t <= a.t + 5` as long as `b.t <= a.t + 127`; for the points beyond, the
 * difference wraps to a negative one, and the comparison holds as well.
 *
 * @param end        inclusive; beyond it, nothing is known
 * @param everywhere a bound without that limit: open for the rows that have points beyond it
 */
private[condition] case class ValidRange(
    end: Expression,
    upper: Boolean,
    everywhere: BoundExpression)

private[condition] object PointBounds {

  /**
   * Of an endpoint as it stands. None if the point cannot be computed for every row. Of two prefixes
   * that are the same, either value may be the larger one.
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
   * Of `sum <= 0`, or `sum < 0` if strict, solved for the number of the points' side:
   * {{{
   *   p + B <= 0   is   p <= -B         B - p <= 0   is   p >= B
   * }}}
   * None if there is no such number, or if it cannot be computed for every row.
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
            // Beyond the core the row may match, although it may not within.
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
   * The points' number, and whether it is subtracted. Several are added if that cannot overflow.
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

  /** Whether some point could bring a row's sum beyond the dangerous end of the type. */
  private def beyondType(w: OverflowSite, boxes: Side): Expression = {
    val (points, others) = w.terms.partition(_.side.contains(boxes.other))
    val reach = ValueRange.sum(points.map(_.signed) ++ w.others)
    val farthest = if (w.misleadsAbove) reach.high else reach.low
    val beyond =
      exactSum(others, farthest - w.misleadingEnd, nullIfBelow = false, nullIfAbove = false)
    if (w.misleadsAbove) GreaterThan(beyond, Literal(0L)) else LessThan(beyond, Literal(0L))
  }

  /**
   * The last point that does not bring a row's sum beyond that end: `p + A <= end` is `p <= end -
   * A`. None if the sum is not of one point and known numbers, or if that point may be no LONG.
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
      // A number as it stands shares its endpoint with the comparisons that use it so.
      case ExactSum(Seq(term), Seq(false), _, _) => term
      case _ => sum
    }
  }

  /** A number as a sum of longs. */
  private def longs(number: BigInt): Seq[Long] =
    if (number == 0) Nil
    else {
      val first = number.max(ValueRange.Long.low).min(ValueRange.Long.high)
      first.toLong +: longs(number - first)
    }
}
