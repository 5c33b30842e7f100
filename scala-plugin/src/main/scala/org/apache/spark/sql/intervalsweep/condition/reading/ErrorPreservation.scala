// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.condition.expressions.{EndpointEncoding, IsTotal}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}

/**
 * Where a formula raises an error for pairs that match: bounds are in the integers, in which sums
 * do not end at the end of a type. Such a pair has to raise it, as it does in Spark's own join.
 *
 * @param held comparisons that all hold for a pair, in the integers
 */
private[condition] case class ErrorPreservation(sides: Sides, held: Seq[Comparison]) {

  /** Those whose formula computes something of both sides that may fail for such a pair. */
  def ofPairs: Seq[Comparison] =
    held.filterNot(c => sums(c.conjunct.expression).forall(isLimited))

  /** What the formulas compute of one side alone, and which may fail for some rows. */
  def ofRows(side: Side): Seq[Expression] =
    ExpressionSet(held.flatMap(c => fallible(c.conjunct.expression, side))).toSeq

  private def fallible(e: Expression, side: Side): Seq[Expression] =
    if (IsTotal(e)) Nil
    else if (sides.isAcross(e)) e.children.flatMap(fallible(_, side))
    else if (sides.of(e).getOrElse(LeftSide) == side) Seq(e)
    else Nil

  /** The sums and differences of both sides' values that fail rather than wrap. */
  private def sums(e: Expression): Seq[Expression] = e.collect {
    case sum @ (ExactArithmetic(_) | _: SubtractTimestamps | _: SubtractDates)
        if sides.isAcross(sum) => magnitude(sum)
  }

  /** What is in its type, is so with another sign, but for the smallest number. */
  private def magnitude(e: Expression): Expression = EndpointEncoding.strip(e) match {
    case UnaryMinus(child, _) => magnitude(child)
    case other => other
  }

  /** Whether the comparisons keep a sum within its type. */
  private def isLimited(sum: Expression): Boolean = Seq(true, false).forall { upper =>
    ordered.exists { case (lesser, greater) =>
      if (upper) isAtMost(sum, lesser, greater) else isAtLeast(sum, lesser, greater)
    } || isWithin(sum, upper)
  }

  /** Whether `lesser <= greater` says that the sum is at most a value of its type. */
  private def isAtMost(sum: Expression, lesser: Expression, greater: Expression): Boolean =
    !sides.isAcross(greater) && lesser.semanticEquals(sum)

  private def isAtLeast(sum: Expression, lesser: Expression, greater: Expression): Boolean =
    !sides.isAcross(lesser) && greater.semanticEquals(sum) ||
      !sides.isAcross(greater) &&
      (lesser match {
        case UnaryMinus(child, _) => EndpointEncoding.strip(child).semanticEquals(sum)
        case _ => false
      })

  /** Whether a comparison of the same terms, in another order or in days, says so. */
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

  /** Pairs of expressions of which the first is at most the second. */
  private lazy val ordered: Seq[(Expression, Expression)] =
    held.flatMap(_.conjunct.expression match {
      case Ordered(lesser, greater, _) => Seq(lesser -> greater)
      case EqualTo(l, r) => Seq(l -> r, r -> l)
      case _ => Nil
    }).map { case (l, r) => (EndpointEncoding.strip(l), EndpointEncoding.strip(r)) }

  /** A sum with its terms put together. */
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
