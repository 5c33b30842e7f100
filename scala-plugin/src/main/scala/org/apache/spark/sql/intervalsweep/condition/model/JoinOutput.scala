// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.plans._

/**
 * What a join returns: pairs, and rows of one side alone.
 *
 * {{{
 *                      pairs    left rows alone            right rows alone
 *   INNER              yes
 *   LEFT OUTER         yes      without a match
 *   RIGHT OUTER        yes                                 without a match
 *   FULL OUTER         yes      without a match            without a match
 *   LEFT SEMI          no       with a match
 *   LEFT ANTI          no       without a match
 *   existence          no       all, and which they are
 * }}}
 *
 * @param unpaired for each side, which of its rows are emitted unpaired: those with (true) or without (false)
 *   a match
 */
case class JoinOutput(hasPairs: Boolean, unpaired: Map[Side, Seq[Boolean]]) {

  /** Whether it has to be known which rows of a side have a match. */
  def isTracked(side: Side): Boolean = unpaired(side).nonEmpty

  def tracked: Seq[Side] = JoinOutput.sides.filter(isTracked)

  /** Whether a row is emitted even if it can match nothing, such as one with a NULL endpoint. */
  def keepsUnmatched(side: Side): Boolean = unpaired(side).contains(false)

  /** Whether one match of a row of that side says all, so that the others need not be found. */
  def needsFirstMatchOnly(side: Side): Boolean = !hasPairs && tracked == Seq(side)
}

object JoinOutput {
  private val sides = Seq[Side](LeftSide, RightSide)

  /** What a type of join returns; None for those that are not swept. */
  def of(joinType: JoinType): Option[JoinOutput] = joinType match {
    case _: InnerLike => Some(apply(hasPairs = true))
    case LeftOuter => Some(apply(hasPairs = true, left = Seq(false)))
    case RightOuter => Some(apply(hasPairs = true, right = Seq(false)))
    case FullOuter => Some(apply(hasPairs = true, left = Seq(false), right = Seq(false)))
    case LeftSemi => Some(apply(hasPairs = false, left = Seq(true)))
    case LeftAnti => Some(apply(hasPairs = false, left = Seq(false)))
    case ExistenceJoin(_) => Some(apply(hasPairs = false, left = Seq(true, false)))
    case _ => None
  }

  /** The type of a join that returns this. */
  def typeOf(output: JoinOutput): JoinType =
    Seq(Inner, LeftOuter, RightOuter, FullOuter, LeftSemi, LeftAnti).find(of(_).contains(output))
      .getOrElse(throw new IllegalArgumentException(s"no type of join returns $output"))

  /** All rows of one side, and whether they have a match. */
  def outcomes(side: Side): JoinOutput = {
    val both = Seq(true, false)
    if (side == LeftSide) apply(hasPairs = false, left = both)
    else apply(hasPairs = false, right = both)
  }

  private def apply(
      hasPairs: Boolean,
      left: Seq[Boolean] = Nil,
      right: Seq[Boolean] = Nil): JoinOutput =
    JoinOutput(hasPairs, Map[Side, Seq[Boolean]](LeftSide -> left, RightSide -> right))
}
