// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.plans._

/**
 * The rows that a join returns: pairs, and unpaired rows of one side.
 *
 * {{{
 *                      pairs    unpaired left rows         unpaired right rows
 *   INNER              yes
 *   LEFT OUTER         yes      without a match
 *   RIGHT OUTER        yes                                 without a match
 *   FULL OUTER         yes      without a match            without a match
 *   LEFT SEMI          no       with a match
 *   LEFT ANTI          no       without a match
 *   existence          no       all, with a flag: has a match
 * }}}
 *
 * @param unpaired for each side, the rows that are emitted unpaired: `true` stands for rows with a
 *                 match, `false` for unmatched rows
 */
case class JoinOutput(hasPairs: Boolean, unpaired: Map[Side, Seq[Boolean]]) {

  /** Whether the join must track which rows of a side have a match. */
  def isTracked(side: Side): Boolean = unpaired(side).nonEmpty

  def tracked: Seq[Side] = JoinOutput.sides.filter(isTracked)

  /** Whether unmatched rows of a side are emitted, such as rows with a NULL endpoint. */
  def keepsUnmatched(side: Side): Boolean = unpaired(side).contains(false)

  /** Whether the join needs only one match of each row of a side, and may skip further matches. */
  def needsFirstMatchOnly(side: Side): Boolean = !hasPairs && tracked == Seq(side)
}

object JoinOutput {
  private val sides = Side.all

  /** The output of a join type. None for join types that no sweep supports. */
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

  /** The join type that has this output. */
  def typeOf(output: JoinOutput): JoinType =
    Seq(Inner, LeftOuter, RightOuter, FullOuter, LeftSemi, LeftAnti).find(of(_).contains(output))
      .getOrElse(throw new IllegalArgumentException(s"no join type has the output $output"))

  /** The output of an existence join: all rows of one side, with whether each has a match. */
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
