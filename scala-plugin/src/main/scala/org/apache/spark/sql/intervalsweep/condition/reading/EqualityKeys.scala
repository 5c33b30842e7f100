// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{Conjunct, Sides}
import org.apache.spark.sql.intervalsweep.condition.expressions.{EndpointEncoding, SortableType}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, WhyNot}
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.types._

/**
 * Reads conjuncts as equi-join keys: pairs of an expression of the left side and an expression of
 * the right side, in that order.
 *
 * @param ofFunctions whether the equalities of a function become keys, if the function consists of
 *                    equalities only, such as ALLEN_MEETS
 */
private[condition] case class EqualityKeys(sides: Sides, ofFunctions: Boolean) {

  /**
   * The keys of a conjunct. None if it is not an equality between the sides.
   *
   * An equality from a function with other comparisons, such as ALLEN_STARTS, becomes an axis and
   * not a key, so that the rows stay in the order of time. Exception: endpoints that are encoded as
   * prefixes, whose axis would not decide the equality.
   */
  def of(conjunct: Conjunct): Option[Either[WhyNot, Seq[(Expression, Expression)]]] =
    conjunct.expression match {
      case EqualTo(a, b) if conjunct.relation.forall(isKey(_, a.dataType)) =>
        leftAndRight(a, b).map(checked(conjunct, _)(Seq(_)))
      case EqualNullSafe(a, b) => leftAndRight(a, b).map(checked(conjunct, _)(nullSafe))
      case _ => None
    }

  private def isKey(relation: IntervalPredicate, dataType: DataType): Boolean =
    if (EndpointEncoding.isExact(dataType)) ofFunctions && relation.isEquality
    else relation.isEquality || SortableType(dataType)

  private def leftAndRight(a: Expression, b: Expression): Option[(Expression, Expression)] =
    (sides.of(a), sides.of(b)) match {
      case (Some(LeftSide), Some(RightSide)) => Some((a, b))
      case (Some(RightSide), Some(LeftSide)) => Some((b, a))
      case _ => None
    }

  private def checked(conjunct: Conjunct, pair: (Expression, Expression))(
      keys: ((Expression, Expression)) => Seq[(Expression, Expression)])
      : Either[WhyNot, Seq[(Expression, Expression)]] = {
    val dataType = pair._1.dataType
    Either.cond(
      SortableType(dataType),
      keys(pair).map { case (l, r) => (normalized(l), normalized(r)) },
      WhyNot.UnorderableKeys(pair._1, conjunct.written))
  }

  /**
   * The two keys of `<=>`, as in Spark's own equi-joins. The first replaces NULL by a default
   * value; the second distinguishes NULL from a real default value.
   */
  private def nullSafe(pair: (Expression, Expression)): Seq[(Expression, Expression)] = {
    def defaulted(e: Expression): Expression = Coalesce(Seq(e, Literal.default(e.dataType)))
    val (l, r) = pair
    Seq((defaulted(l), defaulted(r)), (IsNull(l), IsNull(r)))
  }

  // The optimizer normalizes the keys of plain equalities, but not the keys of a function.
  private def normalized(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)
}
