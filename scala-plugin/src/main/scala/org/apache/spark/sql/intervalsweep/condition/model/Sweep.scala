// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/** One of the two inputs of a join. */
sealed trait Side {
  def other: Side
}

case object LeftSide extends Side {
  override def other: Side = RightSide
  override def toString: String = "left"
}

case object RightSide extends Side {
  override def other: Side = LeftSide
  override def toString: String = "right"
}

/**
 * One end of a box on one axis.
 *
 * @param slot   index into the endpoints of the side that is boxes
 * @param strict whether a point on the bound itself is outside of the box
 */
case class Bound(slot: Int, strict: Boolean)

/**
 * A coordinate of the points, and what a box demands of it. An absent bound is infinite.
 *
 * @param point index into the endpoints of the side that is points
 */
case class Axis(point: Int, lower: Option[Bound], upper: Option[Bound]) {
  def bounds: Seq[Bound] = lower.toSeq ++ upper

  /** Whether a box is one point on it. */
  def isEquality: Boolean = lower == upper && lower.exists(!_.strict)
}

/**
 * Every row of `boxes` is an axis-parallel box, every row of the other side a point; they match
 * if the point lies in the box.
 *
 * {{{
 *   second   ^
 *            |      +---------+       lead:   lower <= p1 < upper   a contiguous run once the
 *            |   .  |  .   .  |                                     points are sorted by p1
 *            |      |     .   |       second: lower <  p2           filters that run
 *            |  .   +---------+ .
 *            +------------------> lead
 * }}}
 */
case class Sweep(boxes: Side, lead: Axis, second: Option[Axis]) {
  def points: Side = boxes.other
  def axes: Seq[Axis] = lead +: second.toSeq

  /** The slots of one side that this sweep reads. */
  def slots(side: Side): Seq[Int] =
    if (side == boxes) axes.flatMap(_.bounds).map(_.slot) else axes.map(_.point)
}
