// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Sides
import org.apache.spark.sql.intervalsweep.condition.expressions.{EndpointEncoding, IsTotal}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}

/**
 * Finds the parts of a formula that can raise an error for a pair that a sweep matches. The bounds
 * of a sweep use exact integers and never overflow; Spark's formula may. Invariant: a pair whose
 * formula overflows still raises the error, as it does in Spark's own join.
 *
 * @param held the comparisons that the sweep decides: all are true for a matching pair, in exact
 *             arithmetic
 */
private[condition] case class ErrorPreservation(sides: Sides, held: Seq[Comparison]) {

  /**
   * The comparisons whose formula has an expression over both sides that may fail for a matching
   * pair. They must stay in the residual condition.
   */
  def ofPairs: Seq[Comparison] =
    held.filterNot(c => sums(c.conjunct.expression).forall(isLimited))

  /**
   * The expressions over one side alone, within the formulas, that may fail for some rows. They are
   * evaluated for each matching row; see `SweepCondition.leftChecks`.
   */
  def ofRows(side: Side): Seq[Expression] =
    ExpressionSet(held.flatMap(c => fallible(c.conjunct.expression, side))).toSeq

  private def fallible(e: Expression, side: Side): Seq[Expression] =
    if (IsTotal(e)) Nil
    else if (sides.isAcross(e)) e.children.flatMap(fallible(_, side))
    else if (sides.of(e).getOrElse(LeftSide) == side) Seq(e)
    else Nil

  /** The sums and differences over both sides that raise an error on overflow. */
  private def sums(e: Expression): Seq[Expression] = e.collect {
    case sum @ (ExactArithmetic(_) | _: SubtractTimestamps | _: SubtractDates)
        if sides.isAcross(sum) => magnitude(sum)
  }

  /**
   * The expression without its signs. If a value is within its type, so is its negation, except for
   * the smallest number.
   */
  private def magnitude(e: Expression): Expression = EndpointEncoding.strip(e) match {
    case UnaryMinus(child, _) => magnitude(child)
    case other => other
  }

  /** Whether the comparisons keep a sum within its type, for each pair for which they are true. */
  private def isLimited(sum: Expression): Boolean = Seq(true, false).forall { upper =>
    ordered.exists { case (lesser, greater) =>
      if (upper) isAtMost(sum, lesser, greater) else isAtLeast(sum, lesser, greater)
    } || isWithin(sum, upper)
  }

  /** Whether `lesser <= greater` limits the sum to at most a value of its type. */
  private def isAtMost(sum: Expression, lesser: Expression, greater: Expression): Boolean =
    !sides.isAcross(greater) && lesser.semanticEquals(sum)

  private def isAtLeast(sum: Expression, lesser: Expression, greater: Expression): Boolean =
    !sides.isAcross(lesser) && greater.semanticEquals(sum) ||
      !sides.isAcross(greater) &&
      (lesser match {
        case UnaryMinus(child, _) => EndpointEncoding.strip(child).semanticEquals(sum)
        case _ => false
      })

  /**
   * Whether a comparison of the same terms keeps the sum within its type. The terms may be in
   * another order, or counted in days instead of microseconds.
   */
  private def isWithin(sum: Expression, upper: Boolean): Boolean = {
    val own = Linear(sum)
    val known = ordered.map { case (lesser, greater) => Linear(lesser) - Linear(greater) }
    (known ++ known.map(_ * MICROS_PER_DAY)).exists { atMostZero =>
      val end =
        if (upper) Option.when(atMostZero.terms == own.terms)(own.constant - atMostZero.constant)
        else Option.when((-atMostZero).terms == own.terms)(own.constant + atMostZero.constant)
      end.exists(e => ValueRange.of(sum.dataType).contains(ValueRange(e, e)))
    }
  }

  /** Pairs of expressions: the first is at most the second. */
  private lazy val ordered: Seq[(Expression, Expression)] =
    held.flatMap(_.conjunct.expression match {
      case Ordered(lesser, greater, _) => Seq(lesser -> greater)
      case EqualTo(l, r) => Seq(l -> r, r -> l)
      case _ => Nil
    }).map { case (l, r) => (EndpointEncoding.strip(l), EndpointEncoding.strip(r)) }

  /** A sum as a factor for each distinct term, and a constant. */
  private case class Linear(terms: Map[Expression, BigInt], constant: BigInt) {
    def *(factor: BigInt): Linear =
      Linear(terms.map { case (e, n) => e -> n * factor }, constant * factor)
    def unary_- : Linear = this * -1
    def -(other: Linear): Linear = this + -other
    def +(other: Linear): Linear = {
      val all = (terms.toSeq ++ other.terms).groupMapReduce(_._1)(_._2)(_ + _)
      Linear(all.filter(_._2 != 0), constant + other.constant)
    }
  }

  private object Linear {
    def apply(e: Expression): Linear = EndpointEncoding.strip(e) match {
      case Literal(n @ (_: Byte | _: Short | _: Int | _: Long), _) =>
        Linear(Map.empty, BigInt(n.asInstanceOf[Number].longValue))
      case ExactArithmetic(addends) =>
        addends.map { case (a, negative) => if (negative) -Linear(a) else Linear(a) }.reduce(_ + _)
      case SubtractTimestamps(l, r, _, _) => Linear(l) - Linear(r)
      case SubtractDates(l, r, _) => (Linear(l) - Linear(r)) * MICROS_PER_DAY
      case other => Linear(Map(other.canonicalized -> BigInt(1)), BigInt(0))
    }
  }
}
