// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * A join condition as equality keys, boxes and points, and a rest:
 * {{{
 *   condition  <=>  leftKeys = rightKeys  AND  (some sweep matches)  AND  residual
 * }}}
 * in the sense of a filter, where NULL is as good as false. No pair is matched by two sweeps.
 *
 * It is an expression, so that what Spark does to the expressions of a physical plan reaches all of
 * its parts as one value: canonical forms, subqueries, references.
 *
 * @param leftEndpoints  expressions of type LONG over the left side alone, in an order-preserving
 *                       encoding; NULL means that the row matches nothing
 * @param rightEndpoints the same for the right side
 * @param residual       what a pair that the sweeps match has to fulfil besides
 * @param leftChecks     what must not fail for the left row of such a pair; see [[Failures]]
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

  require(leftKeys.length == rightKeys.length, "keys come in pairs")
  require(sweeps.nonEmpty, "a sweep condition has a sweep")
  Seq(LeftSide, RightSide).foreach { side =>
    require(
      sweeps.flatMap(_.endpointsOf(side)).forall(endpoints(side).indices.contains),
      s"a sweep reads an endpoint that does not exist on the $side")
    require(pointEndpoints(side).distinct.length <= 1, s"the $side is sorted in two ways")
  }

  def keys(side: Side): Seq[Expression] = if (side == LeftSide) leftKeys else rightKeys

  def endpoints(side: Side): Seq[Expression] =
    if (side == LeftSide) leftEndpoints else rightEndpoints

  /** With further checks. */
  def withChecks(left: Seq[Expression], right: Seq[Expression]): SweepCondition =
    copy(leftChecks = leftChecks ++ left, rightChecks = rightChecks ++ right)

  def hasChecks: Boolean = leftChecks.nonEmpty || rightChecks.nonEmpty

  def checks(side: Side): Seq[Expression] = if (side == LeftSide) leftChecks else rightChecks

  /**
   * The endpoint by which the rows of a side are sorted: the lead point where the side is points,
   * which is the same in every sweep, and otherwise the end of the lead axis at which a box
   * begins.
   */
  def sortEndpoint(side: Side): Int = pointEndpoints(side).headOption.getOrElse {
    sweeps.head.lead.bounds.head.endpoint
  }

  /**
   * The endpoint by which rows are sorted that have the same [[sortEndpoint]]: where both axes are
   * equalities, so that what matches is next to each other however many rows share a value.
   */
  def tieEndpoint(side: Side): Option[Int] = for {
    sweep <- sweeps.find(_.points == side) if sweep.lead.isEquality
    second <- sweep.second if second.isEquality
  } yield second.point

  private def pointEndpoints(side: Side): Seq[Int] =
    sweeps.filter(_.points == side).map(_.lead.point)

  /** In the order of the fields. */
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
 * How a condition is to be swept if there are several ways.
 *
 * @param preferredBoxes  the side to make boxes of where the condition leaves the choice
 * @param forcedBoxes     the side to make boxes of wherever the condition allows it
 * @param weakRanges      whether one inequality beside equality keys is enough
 * @param functionsAsAxes whether a function that is nothing but equalities is axes beside keys, too
 */
case class SweepOptions(
    preferredBoxes: Option[Side] = None,
    forcedBoxes: Option[Side] = None,
    weakRanges: Boolean = false,
    functionsAsAxes: Boolean = false)
