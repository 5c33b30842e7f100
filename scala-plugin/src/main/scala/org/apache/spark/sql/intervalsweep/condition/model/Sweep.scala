// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/**
 * One end of a box on one axis.
 *
 * @param endpoint index into the endpoints of the side whose rows are boxes
 * @param strict   whether a point on the bound itself is outside of the box
 */
case class Bound(endpoint: Int, strict: Boolean)

/**
 * A coordinate of the points, and the bounds that a box sets on it. An absent bound is infinite.
 *
 * @param point index into the endpoints of the side whose rows are points
 */
case class Axis(point: Int, lower: Option[Bound], upper: Option[Bound]) {
  def bounds: Seq[Bound] = lower.toSeq ++ upper

  /** Whether each box admits a single value on this axis. */
  def isEquality: Boolean = lower == upper && lower.exists(!_.strict)
}

/**
 * A search for matches in one or two dimensions. Each row of the side `boxes` is an axis-parallel
 * box, and each row of the other side is a point. Two rows match if the point lies in the box.
 *
 * {{{
 *   second   ^
 *            |      +---------+       lead:   lower <= p1 < upper   one run, because the
 *            |   .  |  .   .  |                                     points are sorted by p1
 *            |      |     .   |       second: lower <  p2           filters that run
 *            |  .   +---------+ .
 *            +------------------> lead
 * }}}
 */
case class Sweep(boxes: Side, lead: Axis, second: Option[Axis]) {
  def points: Side = boxes.other

  /** Whether the lead axis has two bounds, so that each box has few candidates. */
  def isBounded: Boolean = lead.lower.isDefined && lead.upper.isDefined
  def axes: Seq[Axis] = lead +: second.toSeq

  /** The indexes of the endpoints that this sweep reads from one side. */
  def endpointsOf(side: Side): Seq[Int] =
    if (side == boxes) axes.flatMap(_.bounds).map(_.endpoint) else axes.map(_.point)
}
