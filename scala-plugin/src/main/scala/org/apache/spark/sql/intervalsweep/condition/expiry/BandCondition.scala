// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Conjuncts
import org.apache.spark.sql.intervalsweep.condition.reading.{ExactArithmetic, Ordered}
import org.apache.spark.sql.types.IntegralType

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

  def isOne(condition: Expression): Boolean =
    Conjuncts.of(condition).map(_.expression).forall {
      case Ordered(lesser, greater, _) => isBound(lesser, greater)
      case EqualTo(left, right) => isBound(left, right)
      case _ => false
    }

  private def isBound(lesser: Expression, greater: Expression): Boolean =
    difference(of(greater), of(lesser)).exists(_.values.toSet == Set(true, false))

  private def of(e: Expression): Option[Change] = e match {
    case a: Attribute =>
      numbers.collectFirst { case (s, n) if n.semanticEquals(a) => Map(s -> true) }
    case constant if constant.foldable => Some(Map.empty)
    case ExactArithmetic(terms) =>
      terms.foldLeft(Option[Change](Map.empty)) {
        case (sum, (term, isSubtracted)) =>
          if (isSubtracted) difference(sum, of(term)) else together(sum, of(term))
      }
    case IntegralDivide(child, Positive(), _) => of(child)
    case Cast(child, to: IntegralType, _, _) if Cast.canUpCast(child.dataType, to) => of(child)
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
