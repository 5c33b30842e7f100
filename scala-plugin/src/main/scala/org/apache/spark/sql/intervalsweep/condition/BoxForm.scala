package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.catalyst.expressions.Expression

/** All that comparisons say of one point of the side that is not boxes. */
private[condition] case class PointAxis(point: Expression, comparisons: Seq[(Comparison, PointBounds)]) {

  private def ends(of: PointBounds => Option[End]): Seq[End] =
    comparisons.flatMap(c => of(c._2)).foldLeft(Seq.empty[End]) { (known, end) =>
      if (known.exists(_.sameAs(end))) known else known :+ end
    }

  val lower: Option[End] = tightest(ends(_.lower), upper = false)
  val upper: Option[End] = tightest(ends(_.upper), upper = true)

  /** One bound keeps its strictness and so may share its slot; of several, the tightest decides per row. */
  private def tightest(ends: Seq[End], upper: Boolean): Option[End] = ends match {
    case Seq() => None
    case Seq(end) => Some(end)
    case several =>
      Some(End(several.map(_.inclusive(upper)).reduce(Tighter(_, _, upper)), strict = false))
  }

  /** How well it leads: a point on the axis, a stretch of it, or all of it from one end on. */
  def strength: Int =
    if (comparisons.exists { case (_, b) => b.lower.isDefined && b.upper.isDefined }) PointAxis.Equality
    else if (lower.isDefined && upper.isDefined) PointAxis.TwoSided
    else PointAxis.OneSided

  def exact: Seq[Comparison] = comparisons.collect { case (c, bounds) if bounds.exact => c }
}

private[condition] object PointAxis {
  val OneSided = 1
  val TwoSided = 2
  val Equality = 3
}

/** Comparisons as one sweep, with one side as boxes. */
private[condition] case class BoxForm(boxes: Side, lead: PointAxis, second: Option[PointAxis]) {

  private def axes: Seq[PointAxis] = lead +: second.toSeq

  /** The comparisons that need not be looked at again. */
  def exact: Seq[Comparison] = axes.flatMap(_.exact)

  def comparisons: Int = axes.map(_.comparisons.length).sum

  def toSweeps(slots: Slots): Seq[Sweep] =
    Seq(Sweep(boxes, axis(lead, slots), second.map(axis(_, slots))))

  private def axis(axis: PointAxis, slots: Slots): Axis = {
    def bound(end: End): Bound = Bound(slots.of(boxes, end.bound), end.strict)
    Axis(slots.of(boxes.other, axis.point), axis.lower.map(bound), axis.upper.map(bound))
  }
}

private[condition] object BoxForm {

  /**
   * The best form: the axis that leaves fewest candidates leads, and then as many comparisons as
   * possible are decided by the two axes. The other side's endpoints would do as well as points, so
   * each side is tried as boxes.
   */
  def best(comparisons: Seq[Comparison], preferredBoxes: Option[Side]): Option[BoxForm] =
    Seq(LeftSide, RightSide).flatMap(of(comparisons, _)).maxByOption { form =>
      (
        form.lead.strength,
        form.comparisons,
        form.exact.length,
        preferredBoxes.contains(form.boxes),
        form.boxes == LeftSide)
    }

  private def of(comparisons: Seq[Comparison], boxes: Side): Option[BoxForm] = {
    // Stable, so that among equals the first one written leads.
    val axes = points(comparisons.flatMap(c => c.boxes.get(boxes).map(c -> _)))
      .sortBy(axis => (-axis.strength, -axis.comparisons.length))
    axes.headOption.map(BoxForm(boxes, _, axes.lift(1)))
  }

  private def points(comparisons: Seq[(Comparison, PointBounds)]): Seq[PointAxis] =
    comparisons.foldLeft(Seq.empty[PointAxis]) { case (axes, (comparison, bounds)) =>
      axes.indexWhere(_.point.semanticEquals(bounds.point)) match {
        case -1 => axes :+ PointAxis(bounds.point, Seq(comparison -> bounds))
        case i =>
          axes.updated(i, axes(i).copy(comparisons = axes(i).comparisons :+ (comparison -> bounds)))
      }
    }
}

/** The endpoints of both sides: each expression once. */
private[condition] class Slots {
  private var expressions: Map[Side, Seq[Expression]] = Map(LeftSide -> Nil, RightSide -> Nil)

  def apply(side: Side): Seq[Expression] = expressions(side)

  def of(side: Side, e: Expression): Int = expressions(side).indexWhere(_.semanticEquals(e)) match {
    case -1 =>
      expressions = expressions.updated(side, expressions(side) :+ e)
      expressions(side).length - 1
    case slot => slot
  }
}
