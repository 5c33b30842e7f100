package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.catalyst.expressions._

/** One end of a box on one axis: a LONG over the rows of the boxes. */
private[condition] case class End(bound: Expression, strict: Boolean) {

  def sameAs(other: End): Boolean = strict == other.strict && bound.semanticEquals(other.bound)

  /** The same end as an inclusive bound; NULL if there is no LONG beyond this one. */
  def inclusive(upper: Boolean): Expression =
    if (!strict) bound
    else ExactSum(Seq(bound, Literal(1L)), Seq(false, upper), nullIfBelow = upper, nullIfAbove = !upper)

  /** Inclusive, and open where the bound cannot be computed. */
  def orOpen(upper: Boolean): End = End(IfFails(inclusive(upper), End.open(upper)), strict = false)
}

private[condition] object End {
  /** The bound that excludes nothing. */
  def open(upper: Boolean): Literal = Literal(if (upper) Long.MaxValue else Long.MinValue)
}

/**
 * What a comparison says when one side is boxes: the `point` of the other side is within the bounds.
 *
 * @param exact whether it says all that the comparison does; if not, it says less
 */
private[condition] case class PointBounds(
    point: Expression, lower: Option[End], upper: Option[End], exact: Boolean) {

  /** What both say of one point. */
  def and(other: PointBounds): Option[PointBounds] =
    Option.when(point.semanticEquals(other.point)) {
      PointBounds(point, lower.orElse(other.lower), upper.orElse(other.upper), exact && other.exact)
    }

  /** For an equality that is exact: both ends as the one expression that they are. */
  def joined: PointBounds = (exact, upper.map(_.bound)) match {
    case (true, Some(sum: ExactSum)) =>
      val end = Some(End(sum.copy(nullIfBelow = true, nullIfAbove = true), strict = false))
      copy(lower = end, upper = end)
    case _ => this
  }
}

private[condition] object PointBounds {

  /** Of an endpoint as it stands. None if the point cannot be computed for every row. */
  def direct(point: Operand, bound: Operand, strict: Boolean, upper: Boolean): Option[PointBounds] =
    Option.when(point.hasValue) {
      val plain = End(bound.encoded, strict)
      val end = Some(if (bound.hasValue) plain else plain.orOpen(upper))
      PointBounds(point.encoded, end.filter(_ => !upper), end.filter(_ => upper), bound.hasValue)
    }

  /**
   * Of `sum <= 0`, or `sum < 0` if strict, solved for the number of the points' side:
   * {{{
   *   p + B <= 0   is   p <= -B         p - B >= 0   is   p >= B
   * }}}
   * None if there is no such number, or if it cannot be computed for every row.
   */
  def solved(sum: LinearSum, strict: Boolean, boxes: Side): Option[PointBounds] = {
    val (points, others) = sum.terms.partition(_.side.contains(boxes.other))
    for {
      (point, negative) <- pointOf(points) if others.exists(_.side.isDefined)
    } yield {
      val upper = !negative
      val constant = sum.slack - (if (strict) 1 else 0)
      val bound = exactSum(
        if (upper) others.map(_.negated) else others,
        if (upper) constant else -constant,
        nullIfBelow = upper,
        nullIfAbove = !upper)
      val guarded = sum.wrappings.flatMap(openIf(_, boxes)).reduceOption(Or)
        .fold[Expression](bound)(If(_, End.open(upper), bound))
      val inclusive = End(guarded, strict = false)
      val computable = others.forall(_.operand.hasValue)
      val end = Some(if (computable) inclusive else inclusive.orOpen(upper))
      PointBounds(
        point,
        end.filter(_ => !upper),
        end.filter(_ => upper),
        exact = computable && sum.slack == 0 && !sum.mayWrap)
    }
  }

  /** The points' number, and whether it is subtracted. Several are added up if that cannot overflow. */
  private def pointOf(terms: Seq[Term]): Option[(Expression, Boolean)] = terms match {
    case _ if !terms.forall(_.operand.hasValue) => None
    case Seq(term) => Some(term.operand.encoded -> term.negative)
    case Seq() => None
    case _ => Option.when(Range.Long.contains(Range.sum(terms.map(_.signed)))) {
      exactSum(terms, 0, nullIfBelow = false, nullIfAbove = false) -> false
    }
  }

  /**
   * Where the formula wraps, its number is too small for having gone beyond the upper end of the type,
   * or too large for the lower one. For `sum <= 0` a number too small is dangerous where it is added and
   * one too large where it is subtracted: there, pairs match that the bound does not know of. So if some
   * point could bring a row's sum beyond that end, the row's bound is open. E.g. `b.t - a.t <= c` in
   * BYTE: `b.t` is at most 127, so that the difference wraps to a small one only if `a.t < 0`.
   */
  private def openIf(w: Wrapping, boxes: Side): Option[Expression] = {
    val (points, others) = w.terms.partition(_.side.contains(boxes.other))
    val reach = Range.sum(points.map(_.signed) ++ w.others)
    val above = !w.negative
    val possible = if (above) w.sum.high > w.range.high else w.sum.low < w.range.low
    Option.when(possible) {
      val limit = if (above) w.range.high - reach.high else w.range.low - reach.low
      val beyond = exactSum(others, -limit, nullIfBelow = false, nullIfAbove = false)
      if (above) GreaterThan(beyond, Literal(0L)) else LessThan(beyond, Literal(0L))
    }
  }

  private def exactSum(
      terms: Seq[Term], constant: BigInt, nullIfBelow: Boolean, nullIfAbove: Boolean): Expression = {
    val (literals, others) = terms.partition(_.operand.encoded match {
      case Literal(_: Long, _) => true
      case _ => false
    })
    val known = constant + literals.map(_.signed.low).sum
    val sum = ExactSum(
      others.map(_.operand.encoded) ++ longs(known).map(Literal(_)),
      others.map(_.negative) ++ longs(known).map(_ => false),
      nullIfBelow,
      nullIfAbove)
    sum match {
      case ExactSum(Seq(), _, _, _) => Literal(0L)
      // A number as it stands shares its slot with the comparisons that use it so.
      case ExactSum(Seq(term), Seq(false), _, _) => term
      case _ => sum
    }
  }

  /** A number as a sum of longs. */
  private def longs(number: BigInt): Seq[Long] =
    if (number == 0) Nil
    else {
      val first = number.max(Range.Long.low).min(Range.Long.high)
      first.toLong +: longs(number - first)
    }
}
