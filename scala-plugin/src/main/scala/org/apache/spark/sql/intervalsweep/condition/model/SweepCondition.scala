// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * A join condition in the form that a sweep can execute: equi-join keys, sweeps over boxes and
 * points, and a residual condition.
 * {{{
 *   condition  <=>  leftKeys = rightKeys  AND  (some sweep matches)  AND  residual
 * }}}
 * The equivalence is that of a filter, where NULL counts as false. Invariant: for each pair, at
 * most one sweep matches it with a true residual, so the results need no deduplication. (The
 * residual of alternatives depends on the sweep; see [[SweepNumber]].)
 *
 * The class is an Expression, so that Spark's transformations of a physical plan (canonical forms,
 * subqueries, references) reach all of its parts.
 *
 * @param leftEndpoints  expressions of type LONG over the left side alone, in an order-preserving
 *                       encoding; a row with a NULL endpoint matches nothing
 * @param rightEndpoints the same for the right side
 * @param residual       the further condition on a pair that a sweep matches
 * @param leftChecks     expressions that are evaluated for the left row of each pair, because they
 *                       may raise an error that the original condition would raise; see
 *                       `ErrorPreservation`
 * @param rightChecks    the same for the right row
 */
case class SweepCondition(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    leftEndpoints: Seq[Expression],
    rightEndpoints: Seq[Expression],
    sweeps: Seq[Sweep],
    residual: Option[Expression],
    leftChecks: Seq[Expression],
    rightChecks: Seq[Expression])
    extends Expression with Unevaluable {

  require(leftKeys.length == rightKeys.length, "both sides must have the same number of keys")
  require(sweeps.nonEmpty, "sweeps must not be empty")
  Seq(LeftSide, RightSide).foreach { side =>
    require(
      sweeps.flatMap(_.endpointsOf(side)).forall(endpoints(side).indices.contains),
      s"each endpoint index of a sweep must exist on the $side side")
    require(pointEndpoints(side).distinct.length <= 1, s"the $side side must have one sort key")
  }

  def keys(side: Side): Seq[Expression] = if (side == LeftSide) leftKeys else rightKeys

  def endpoints(side: Side): Seq[Expression] =
    if (side == LeftSide) leftEndpoints else rightEndpoints

  /** This condition with further checks. */
  def withChecks(left: Seq[Expression], right: Seq[Expression]): SweepCondition =
    copy(leftChecks = leftChecks ++ left, rightChecks = rightChecks ++ right)

  def hasChecks: Boolean = leftChecks.nonEmpty || rightChecks.nonEmpty

  def checks(side: Side): Seq[Expression] = if (side == LeftSide) leftChecks else rightChecks

  /**
   * The endpoint by which the rows of a side are sorted. If its rows are points in some sweep: the
   * point of the lead axis, which is the same in all sweeps. Otherwise: the lower bound of the lead
   * axis, or its upper bound if it has no lower bound; the first endpoint if it has none.
   */
  def sortEndpoint(side: Side): Int = pointEndpoints(side).headOption.getOrElse {
    sweeps.head.lead.bounds.headOption.fold(0)(_.endpoint)
  }

  /**
   * The endpoint that orders rows with the same [[sortEndpoint]]. It exists if both axes are
   * equalities: then all matches of a box are next to each other, however many rows share a value.
   */
  def tieEndpoint(side: Side): Option[Int] = for {
    sweep <- sweeps.find(_.points == side) if sweep.lead.isEquality
    second <- sweep.second if second.isEquality
  } yield second.point

  private def pointEndpoints(side: Side): Seq[Int] =
    sweeps.filter(_.points == side).map(_.lead.point)

  /** The children, in the order of the fields; see [[withNewChildrenInternal]]. */
  override def children: Seq[Expression] =
    leftKeys ++ rightKeys ++ leftEndpoints ++ rightEndpoints ++ residual ++ leftChecks ++
      rightChecks

  override def dataType: DataType = BooleanType
  override def nullable: Boolean = true

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]): SweepCondition = {
    val rest = children.iterator
    def next(old: Seq[Expression]): Seq[Expression] = Seq.fill(old.size)(rest.next())
    copy(
      leftKeys = next(leftKeys),
      rightKeys = next(rightKeys),
      leftEndpoints = next(leftEndpoints),
      rightEndpoints = next(rightEndpoints),
      residual = residual.map(_ => rest.next()),
      leftChecks = next(leftChecks),
      rightChecks = next(rightChecks))
  }
}

/**
 * Preferences for conditions that allow several forms.
 *
 * @param preferredBoxes  the side whose rows become boxes if two forms are equally good
 * @param forcedBoxes     the side whose rows become boxes if the condition allows it
 * @param weakRanges      whether equality keys with a single inequality are worth a sweep
 * @param functionsAsAxes whether a function that consists of equalities becomes axes, even if the
 *                        condition has other keys or a range
 * @param weakAlternatives whether alternatives may share a sort order although the lead axis of one
 *                        of them then has one bound only
 */
case class SweepOptions(
    preferredBoxes: Option[Side] = None,
    forcedBoxes: Option[Side] = None,
    weakRanges: Boolean = false,
    functionsAsAxes: Boolean = false,
    weakAlternatives: Boolean = true)
