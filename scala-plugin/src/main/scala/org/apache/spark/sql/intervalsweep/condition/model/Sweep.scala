// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/**
 * One end of a box on one axis.
 *
 * @param endpoint index into the endpoints of the side that is boxes
 * @param strict whether a point on the bound itself is outside of the box
 */
case class Bound(endpoint: Int, strict: Boolean)

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

  /** The endpoints of one side that this sweep reads. */
  def endpointsOf(side: Side): Seq[Int] =
    if (side == boxes) axes.flatMap(_.bounds).map(_.endpoint) else axes.map(_.point)
}
