// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, WhyNot}
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.types._

/**
 * Equalities of an expression of the left side with one of the right side, in that order.
 *
 * @param ofFunctions whether those of a function that is nothing but equalities are keys
 */
private[condition] case class EqualityKeys(sides: Sides, ofFunctions: Boolean) {

  /**
   * None if the conjunct is no such equality. Those of a function that is more than equalities
   * are not keys, but axes: the rows then stay in the order of time. An axis of prefixes would not
   * decide them.
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
    else relation.isEquality || isSortable(dataType)

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
      isSortable(dataType),
      keys(pair).map { case (l, r) => (normalized(l), normalized(r)) },
      WhyNot.UnorderableKeys(pair._1, conjunct.written))
  }

  private def isSortable(dataType: DataType): Boolean =
    RowOrdering.isOrderable(dataType) && isBinaryEqual(dataType)

  /** Equal as bytes once floating-point numbers are normalized; some collated strings are not. */
  private def isBinaryEqual(dataType: DataType): Boolean =
    !dataType.existsRecursively(t =>
      t.isInstanceOf[StringType] && !UnsafeRowUtils.isBinaryStable(t))

  /**
   * NULL becomes a default value, told from a real one by a second key, as in Spark's own equi-
   * joins.
   */
  private def nullSafe(pair: (Expression, Expression)): Seq[(Expression, Expression)] = {
    def defaulted(e: Expression): Expression = Coalesce(Seq(e, Literal.default(e.dataType)))
    val (l, r) = pair
    Seq((defaulted(l), defaulted(r)), (IsNull(l), IsNull(r)))
  }

  // The optimizer has done this to the keys that Spark knows of, and never to those of a function.
  private def normalized(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)
}
