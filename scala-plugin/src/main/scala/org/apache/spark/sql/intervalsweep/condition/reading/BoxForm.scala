// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, Bound, LeftSide, Side, Sweep, SweepOptions
}

/** A form in which sweeps can search comparisons. */
private[condition] trait SweepForm {

  /** The comparisons that the sweeps decide, so that the residual need not repeat them. */
  def exact: Seq[Comparison]

  /** Adds the endpoints of the sweeps to the table. */
  def toSweeps(table: EndpointTable): Seq[Sweep]
}

/** The points of an axis between two bounds. */
private[condition] case class Stretch(
    lower: Option[BoundExpression],
    upper: Option[BoundExpression])

/** The bounds that all comparisons together set on one point of the point side. */
private[condition] case class PointAxis(
    point: Expression,
    comparisons: Seq[(Comparison, PointBounds)]) {

  private def bounds: Seq[PointBounds] = comparisons.map(_._2)

  val lower: Option[BoundExpression] =
    BoundExpression.tightest(bounds.flatMap(_.lower), upper = false)
  val upper: Option[BoundExpression] =
    BoundExpression.tightest(bounds.flatMap(_.upper), upper = true)

  /**
   * The selectivity class of this axis as lead axis: [[PointAxis.Equality]], [[PointAxis.TwoSided]]
   * (bounded at both ends) or [[PointAxis.OneSided]].
   */
  def strength: Int =
    if (bounds.exists(b => b.lower.isDefined && b.upper.isDefined)) PointAxis.Equality
    else if (lower.isDefined && upper.isDefined) PointAxis.TwoSided
    else PointAxis.OneSided

  def exact: Seq[Comparison] = comparisons.collect { case (c, bounds) if bounds.exact => c }

  /** The stretch that is valid for all points. */
  def everywhere: Stretch = {
    val axis = mapBounds(_.everywhere)
    Stretch(axis.lower, axis.upper)
  }

  private def mapBounds(f: PointBounds => PointBounds): PointAxis =
    copy(comparisons = comparisons.map { case (c, b) => (c, f(b)) })

  /**
   * The disjoint stretches of the axis to search. Without wrapping arithmetic there is one stretch.
   * With it there are up to three: the bounds within the valid range ([[ValidRange]]), and
   * everything beyond either end of that range.
   * {{{
   *          below          |         valid range          |         above
   *   ----------------------+------[lower ... upper]-------+---------------------->
   * }}}
   * The two ends of the range must be a constant apart, so that neither passes the other for any
   * row. Bounds whose range has another base use their `everywhere` form instead.
   */
  def stretches: Seq[Stretch] = {
    val base = bounds.flatMap(_.validRanges).headOption.map(range => Offset(range.end))
    val axis = mapBounds { b =>
      if (b.validRanges.forall(range => base.exists(_.sameBase(Offset(range.end))))) b
      else b.everywhere
    }
    val (first, last) = (axis.rangeEnd(upper = false), axis.rangeEnd(upper = true))
    val isEmpty = first.zip(last).exists { case (f, l) => Offset(f.bound).by > Offset(l.bound).by }
    if (isEmpty) Seq(axis.everywhere)
    else axis.within(first, last) +: (last.map(axis.above).toSeq ++ first.map(axis.below))
  }

  /** The first or the last point of the valid range. None if all points are within it. */
  private def rangeEnd(upper: Boolean): Option[BoundExpression] =
    BoundExpression.tightest(
      bounds.flatMap(_.validRanges).filter(_.upper == upper)
        .map(range => BoundExpression(range.end, strict = false)),
      upper)

  private def within(first: Option[BoundExpression], last: Option[BoundExpression]): Stretch =
    Stretch(
      BoundExpression.tightest(lower.toSeq ++ first, upper = false),
      BoundExpression.tightest(upper.toSeq ++ last, upper = true))

  private def above(last: BoundExpression): Stretch = {
    val axis = alwaysValid
    Stretch(
      Some(BoundExpression.beyond(last.bound, axis.lower.toSeq, upper = false)),
      axis.upper)
  }

  private def below(first: BoundExpression): Stretch = {
    val axis = alwaysValid
    Stretch(
      axis.lower,
      Some(BoundExpression.beyond(first.bound, axis.upper.toSeq, upper = true)))
  }

  /** The axis with those bounds alone that are valid for all points. */
  private def alwaysValid: PointAxis =
    copy(comparisons = comparisons.filter(_._2.validRanges.isEmpty))
}

private[condition] object PointAxis {
  val OneSided = 1
  val TwoSided = 2
  val Equality = 3
}

/**
 * Comparisons as a sweep with the rows of one side as boxes. It has one lead axis and at most one
 * second axis; further comparisons are left to the residual condition.
 */
private[condition] case class BoxForm(boxes: Side, lead: PointAxis, second: Option[PointAxis])
    extends SweepForm {

  private def axes: Seq[PointAxis] = lead +: second.toSeq

  override def exact: Seq[Comparison] = axes.flatMap(_.exact)

  def comparisons: Int = axes.map(_.comparisons.length).sum

  override def toSweeps(table: EndpointTable): Seq[Sweep] = {
    def bound(end: BoundExpression): Bound = Bound(table.of(boxes, end.bound), end.strict)
    def axis(point: Expression, stretch: Stretch): Axis =
      Axis(table.of(boxes.other, point), stretch.lower.map(bound), stretch.upper.map(bound))
    lead.stretches.map { stretch =>
      Sweep(boxes, axis(lead.point, stretch), second.map(a => axis(a.point, a.everywhere)))
    }
  }
}

private[condition] object BoxForm {

  /**
   * The best form, in the order of the tuple below: the lead axis leaves as few candidates as
   * possible, and then the two axes decide as many comparisons as possible. The rows of either side
   * can be boxes, so both are tried. Compares O(c^2) expressions for c comparisons.
   */
  def best(comparisons: Seq[Comparison], options: SweepOptions): Option[BoxForm] =
    Side.all.flatMap(of(comparisons, _)).maxByOption { form =>
      (
        options.forcedBoxes.contains(form.boxes),
        form.lead.strength,
        form.comparisons,
        form.exact.length,
        options.preferredBoxes.contains(form.boxes),
        form.boxes == LeftSide)
    }

  private def of(comparisons: Seq[Comparison], boxes: Side): Option[BoxForm] = {
    val axes = axesOf(comparisons, boxes)
    axes.headOption.map(BoxForm(boxes, _, axes.lift(1)))
  }

  /** All forms: the rows of either side as boxes, and any axis as lead axis. */
  def all(comparisons: Seq[Comparison]): Seq[BoxForm] = for {
    boxes <- Side.all
    axes = axesOf(comparisons, boxes)
    lead <- axes
  } yield BoxForm(boxes, lead, axes.find(_ ne lead))

  /** The axes, best first. The sort is stable: of equally good axes, the first written leads. */
  private def axesOf(comparisons: Seq[Comparison], boxes: Side): Seq[PointAxis] =
    points(comparisons.flatMap(c => c.boxes.get(boxes).map(c -> _)))
      .sortBy(axis => (-axis.strength, -axis.comparisons.length))

  private def points(comparisons: Seq[(Comparison, PointBounds)]): Seq[PointAxis] =
    comparisons.foldLeft(Seq.empty[PointAxis]) { case (axes, (comparison, bounds)) =>
      axes.indexWhere(_.point.semanticEquals(bounds.point)) match {
        case -1 => axes :+ PointAxis(bounds.point, Seq(comparison -> bounds))
        case i =>
          axes.updated(i, axes(i).copy(comparisons = axes(i).comparisons :+ (comparison -> bounds)))
      }
    }
}

/** The endpoint expressions of both sides. Each distinct expression has one index per side. */
private[condition] class EndpointTable {
  private var expressions: Map[Side, Seq[Expression]] = Side.all.map(_ -> Nil).toMap

  def apply(side: Side): Seq[Expression] = expressions(side)

  def of(side: Side, e: Expression): Int = expressions(side).indexWhere(_.semanticEquals(e)) match {
    case -1 =>
      expressions = expressions.updated(side, expressions(side) :+ e)
      expressions(side).length - 1
    case endpoint => endpoint
  }
}
