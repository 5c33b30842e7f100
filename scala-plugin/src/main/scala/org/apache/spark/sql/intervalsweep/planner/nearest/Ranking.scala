// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.BinaryNode

/**
 * How matches are ranked, by a value of the right rows, or by its difference from one of the left
 * rows; see [[org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches]].
 */
private[nearest] case class Ranking(
    left: Option[Expression],
    value: Expression,
    isNearest: Boolean,
    fromEnd: Boolean) {
  def center: Option[Expression] = left.filter(_ => isNearest)

  /** A left row whose part of the ranking is NULL has no match. */
  def known: Seq[Expression] = left.filter(e => !isNearest && e.nullable).map(IsNotNull(_)).toSeq
}

private[nearest] object Ranking {

  /** By a value of the right rows alone. */
  def ofValue(value: Expression, fromEnd: Boolean): Ranking =
    Ranking(left = None, value, isNearest = false, fromEnd)

  /** @param isDistance whether the least values of `ranking` are preferred, not the greatest */
  def of(join: BinaryNode, ranking: Expression, isDistance: Boolean): Option[Ranking] = {
    def isLeft(e: Expression) = e.references.nonEmpty && e.references.subsetOf(join.left.outputSet)
    def isRight(e: Expression) =
      e.references.nonEmpty && e.references.subsetOf(join.right.outputSet)
    ranking match {
      case Alias(child, _) => of(join, child, isDistance)
      case UnaryMinus(child, _) => of(join, child, !isDistance)
      case AbsoluteDifference(a, b) if isDistance && isLeft(a) && isRight(b) =>
        Some(Ranking(Some(a), b, isNearest = true, fromEnd = false))
      case AbsoluteDifference(b, a) if isDistance && isLeft(a) && isRight(b) =>
        Some(Ranking(Some(a), b, isNearest = true, fromEnd = false))
      case Difference(a, b) if isLeft(a) && isRight(b) =>
        Some(Ranking(Some(a), b, isNearest = false, fromEnd = isDistance))
      case Difference(b, a) if isLeft(a) && isRight(b) =>
        Some(Ranking(Some(a), b, isNearest = false, fromEnd = !isDistance))
      case _ => None
    }
  }

  /** `a - b`, or a number of whole units between them: it is ordered like the difference. */
  private object Difference {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case Subtract(a, b, _) => Some((a, b))
      case SubtractTimestamps(a, b, _, _) => Some((a, b))
      case SubtractDates(a, b, _) => Some((a, b))
      case DateDiff(a, b) => Some((a, b))
      case TimestampDiff(_, a, b, _) => Some((b, a))
      case _ => None
    }
  }

  /** `abs(a - b)`, or the form of an as-of join: `if(a > b, a - b, b - a)`. */
  private object AbsoluteDifference {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case Abs(Difference(a, b), _) => Some((a, b))
      case If(GreaterThan(a, b), Difference(c, d), Difference(f, g))
          if Seq(c, g).forall(_.semanticEquals(a)) && Seq(d, f).forall(_.semanticEquals(b)) =>
        Some((a, b))
      case _ => None
    }
  }
}
