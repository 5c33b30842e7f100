// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  ExactSum, OnErrorElse, TighterBound
}

/** One end of a box on one axis: an expression of type LONG over a row of the box side. */
private[condition] case class BoundExpression(bound: Expression, strict: Boolean) {

  def sameAs(other: BoundExpression): Boolean = strict == other.strict &&
    bound.semanticEquals(other.bound)

  /** The same end as an inclusive bound. NULL (no match) if no LONG is within a strict bound. */
  def inclusive(upper: Boolean): Expression =
    if (!strict) bound
    else {
      val step = Literal(1L)
      ExactSum(Seq(bound, step), Seq(false, upper), nullIfBelow = upper, nullIfAbove = !upper)
    }

  /** This end as an inclusive bound that is open for rows for which it cannot be computed. */
  def orOpen(upper: Boolean): BoundExpression =
    BoundExpression(OnErrorElse(inclusive(upper), BoundExpression.open(upper)), strict = false)
}

private[condition] object BoundExpression {

  /** The bound that excludes nothing. */
  def open(upper: Boolean): Literal = Literal(if (upper) Long.MaxValue else Long.MinValue)

  /**
   * The tightest of several ends, computed for each row as an inclusive bound. A single end stays
   * strict if it is strict, so that it can share its endpoint with other axes.
   */
  def tightest(ends: Seq[BoundExpression], upper: Boolean): Option[BoundExpression] =
    distinct(ends) match {
      case Seq() => None
      case Seq(end) => Some(end)
      case several =>
        Some(BoundExpression(
          several.map(_.inclusive(upper)).reduce(tighter(_, _, upper)),
          strict = false))
    }

  /**
   * The bound of the stretch beyond `edge` and within the ends. The stretch may be empty. The bound
   * must not become NULL then: the row can still have matches before `edge`.
   */
  def beyond(edge: Expression, ends: Seq[BoundExpression], upper: Boolean): BoundExpression = {
    def exclusive(end: BoundExpression): Expression =
      if (end.strict) end.bound
      else ExactSum.saturating(Seq(end.bound, Literal(1L)), Seq(false, !upper))
    BoundExpression((edge +: ends.map(exclusive)).reduce(TighterBound(_, _, upper)), strict = true)
  }

  private def distinct(ends: Seq[BoundExpression]): Seq[BoundExpression] =
    ends.foldLeft(Seq.empty[BoundExpression]) { (known, end) =>
      if (known.exists(_.sameAs(end))) known else known :+ end
    }

  private def tighter(a: Expression, b: Expression, upper: Boolean): Expression =
    (Offset(a), Offset(b)) match {
      case (x, y) if x.sameBase(y) => if (x.by <= y.by == upper) a else b
      case _ => TighterBound(a, b, upper)
    }
}

/** A bound, split into a base and a constant that is added to it. */
private[condition] case class Offset(base: Seq[(Expression, Boolean)], by: BigInt) {
  def sameBase(other: Offset): Boolean =
    base.length == other.base.length && base.zip(other.base).forall { case ((a, m), (b, n)) =>
      m == n && a.semanticEquals(b)
    }
}

private[condition] object Offset {
  def apply(bound: Expression): Offset = bound match {
    case ExactSum(terms, negative, _, _) =>
      val (constants, base) = terms.zip(negative).partitionMap {
        case (Literal(v: Long, _), minus) => Left(if (minus) -BigInt(v) else BigInt(v))
        case other => Right(other)
      }
      Offset(base, constants.sum)
    case other => Offset(Seq(other -> false), 0)
  }
}
