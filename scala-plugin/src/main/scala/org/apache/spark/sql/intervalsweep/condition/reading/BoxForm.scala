// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, Bound, LeftSide, RightSide, Side, Sweep, SweepOptions
}

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

  def everywhere: PointAxis = mapBounds(_.everywhere)

  private def mapBounds(f: PointBounds => PointBounds): PointAxis =
    copy(comparisons = comparisons.map { case (c, b) => (c, f(b)) })

  /**
   * The disjoint stretches of the axis to search, as lower and upper bounds. Without wrapping
   * arithmetic there is one stretch. With it there are up to three: the bounds within the core,
   * which is the range for which they are valid ([[ValidRange]]), and everything beyond either end
   * of it.
   * {{{
   *          below          |             core             |         above
   *   ----------------------+------[lower ... upper]-------+---------------------->
   * }}}
   * The two ends of the core must be a constant apart, so that neither passes the other for any
   * row. Bounds whose core has another base use their `everywhere` form instead.
   */
  def stretches: Seq[(Option[BoundExpression], Option[BoundExpression])] = {
    val base = bounds.flatMap(_.cores).headOption.map(c => Offset(c.end))
    val aligned = mapBounds { b =>
      if (b.cores.forall(c => base.exists(_.sameBase(Offset(c.end))))) b else b.everywhere
    }
    aligned.alignedStretches
  }

  private def alignedStretches: Seq[(Option[BoundExpression], Option[BoundExpression])] = {
    def edge(upper: Boolean): Option[BoundExpression] =
      BoundExpression.tightest(
        bounds.flatMap(_.cores).filter(_.upper == upper).map(c =>
          BoundExpression(c.end, strict = false)),
        upper)
    val (low, high) = (edge(upper = false), edge(upper = true))
    val isEmpty = low.zip(high).exists { case (l, h) => Offset(l.bound).by > Offset(h.bound).by }
    if (isEmpty) everywhere.alignedStretches
    else {
      val free = copy(comparisons = comparisons.filter(_._2.cores.isEmpty))
      val core = (
        BoundExpression.tightest(lower.toSeq ++ low, upper = false),
        BoundExpression.tightest(upper.toSeq ++ high, upper = true))
      val above =
        high.map(h =>
          (Some(BoundExpression.beyond(h.bound, free.lower.toSeq, upper = false)), free.upper))
      val below =
        low.map(l =>
          (free.lower, Some(BoundExpression.beyond(l.bound, free.upper.toSeq, upper = true))))
      core +: (above.toSeq ++ below)
    }
  }
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
private[condition] case class BoxForm(boxes: Side, lead: PointAxis, second: Option[PointAxis]) {

  private def axes: Seq[PointAxis] = lead +: second.toSeq

  /** The comparisons that the axes decide, so that the residual need not repeat them. */
  def exact: Seq[Comparison] = axes.flatMap(_.exact)

  def comparisons: Int = axes.map(_.comparisons.length).sum

  def toSweeps(table: EndpointTable): Seq[Sweep] = {
    def bound(end: BoundExpression): Bound = Bound(table.of(boxes, end.bound), end.strict)
    def axis(
        point: Expression,
        lower: Option[BoundExpression],
        upper: Option[BoundExpression]): Axis =
      Axis(table.of(boxes.other, point), lower.map(bound), upper.map(bound))
    lead.stretches.map { case (lower, upper) =>
      Sweep(
        boxes,
        axis(lead.point, lower, upper),
        second.map(_.everywhere).map(a => axis(a.point, a.lower, a.upper)))
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
    Seq(LeftSide, RightSide).flatMap(of(comparisons, _)).maxByOption { form =>
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
    boxes <- Seq(LeftSide, RightSide)
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
  private var expressions: Map[Side, Seq[Expression]] = Map(LeftSide -> Nil, RightSide -> Nil)

  def apply(side: Side): Seq[Expression] = expressions(side)

  def of(side: Side, e: Expression): Int = expressions(side).indexWhere(_.semanticEquals(e)) match {
    case -1 =>
      expressions = expressions.updated(side, expressions(side) :+ e)
      expressions(side).length - 1
    case endpoint => endpoint
  }
}
