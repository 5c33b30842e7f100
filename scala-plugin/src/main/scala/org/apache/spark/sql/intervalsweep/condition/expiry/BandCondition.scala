// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Conjuncts
import org.apache.spark.sql.intervalsweep.condition.model.{RightSide, Side}
import org.apache.spark.sql.intervalsweep.condition.reading.{ExactArithmetic, Ordered}
import org.apache.spark.sql.types.IntegralType

/**
 * The bounds of a band of row numbers.
 *
 * @param lower each is true for a right row and all right rows with larger numbers; for a larger
 *              left number, it is true for fewer right rows
 * @param upper each is true for a right row and all right rows with smaller numbers; for a larger
 *              left number, it is true for more right rows
 */
private[intervalsweep] case class NumberBand(lower: Seq[Expression], upper: Seq[Expression])

/**
 * Recognizes monotone bands: conditions on the numbers `x` and `y` of two rows that are equivalent
 * to `lower(x) <= y AND y <= upper(x)`, where neither bound decreases if x increases. Examples are
 * `abs(a.n - b.n) < 9` and `a.n div 5 <= b.n div 5`; a bound may be absent.
 *
 * Invariant: if the condition is true for a row and two numbers, it is true for all numbers between
 * them, so the matches of a row are one contiguous interval of numbers. It raises an error for a
 * number between them only if it does so for one of the two.
 *
 * @param numbers the column with the number, for each side
 */
private[intervalsweep] case class BandCondition(numbers: Map[Side, Attribute]) {

  /**
   * The direction in which a value changes: for each side whose number it depends on, whether the
   * value grows with that number.
   */
  private type Change = Map[Side, Boolean]

  def isOne(condition: Expression): Boolean = of(Seq(condition)).isDefined

  /** The band that several conditions bound together. None if one of them does not bound a band. */
  def of(conditions: Seq[Expression]): Option[NumberBand] = {
    val bounds = conditions.flatMap(Conjuncts.of).map(_.expression).flatMap {
      case EqualTo(left, right) => Seq(LessThanOrEqual(left, right), LessThanOrEqual(right, left))
      case other => Seq(other)
    }
    val read = bounds.map(bound => isLower(bound).map(bound -> _))
    Option.when(read.forall(_.isDefined)) {
      val (lower, upper) = read.flatten.partition(_._2)
      NumberBand(lower.map(_._1), upper.map(_._1))
    }
  }

  /**
   * True for a lower bound: when the right number grows, more left rows satisfy the bound. None if
   * the expression does not bound the difference of both numbers.
   */
  private def isLower(bound: Expression): Option[Boolean] = bound match {
    case Ordered(lesser, greater, _) => difference(change(greater), change(lesser))
        .filter(_.values.toSet == Set(true, false)).map(_(RightSide))
    case _ => None
  }

  private def change(e: Expression): Option[Change] = e match {
    case a: Attribute =>
      numbers.collectFirst { case (s, n) if n.semanticEquals(a) => Map(s -> true) }
    case constant if constant.foldable => Some(Map.empty)
    case ExactArithmetic(terms) =>
      terms.foldLeft(Option[Change](Map.empty)) {
        case (sum, (term, isSubtracted)) =>
          if (isSubtracted) difference(sum, change(term)) else together(sum, change(term))
      }
    case IntegralDivide(child, Positive(), _) => change(child)
    case Cast(child, to: IntegralType, _, _) if Cast.canUpCast(child.dataType, to) =>
      change(child)
    case _ => None
  }

  private def difference(one: Option[Change], other: Option[Change]): Option[Change] =
    together(one, other.map(_.view.mapValues(!_).toMap))

  /** The change of a sum. None if one term grows and the other falls with the same number. */
  private def together(one: Option[Change], other: Option[Change]): Option[Change] =
    for (a <- one; b <- other if a.forall { case (side, grows) => b.get(side).forall(_ == grows) })
      yield a ++ b

  private object Positive {
    def unapply(e: Expression): Boolean = e.foldable &&
      (e.eval() match {
        case n: Number => n.longValue > 0
        case _ => false
      })
  }
}
