// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Sides
import org.apache.spark.sql.intervalsweep.condition.expressions.{EndpointEncoding, WholeDays}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.types._

/** The whole numbers from `low` to `high`. */
private[condition] case class ValueRange(low: BigInt, high: BigInt) {
  def +(other: ValueRange): ValueRange = ValueRange(low + other.low, high + other.high)
  def negated: ValueRange = ValueRange(-high, -low)
  def contains(other: ValueRange): Boolean = low <= other.low && other.high <= high
}

private[condition] object ValueRange {
  val Long: ValueRange = ValueRange(scala.Long.MinValue, scala.Long.MaxValue)

  def sum(ranges: Seq[ValueRange]): ValueRange = ranges.foldLeft(ValueRange(0, 0))(_ + _)

  def of(dataType: DataType): ValueRange = dataType match {
    case ByteType => bits(8)
    case ShortType => bits(16)
    case IntegerType | DateType | _: YearMonthIntervalType => bits(32)
    case _ => Long
  }

  private def bits(n: Int): ValueRange = ValueRange(-BigInt(2).pow(n - 1), BigInt(2).pow(n - 1) - 1)
}

/**
 * A term of a sum: a number of one side, or a constant.
 *
 * @param side     None for a constant
 * @param range    the values that the number can have
 * @param negative whether the number is subtracted
 */
private[condition] case class Term(
    operand: Operand,
    side: Option[Side],
    range: ValueRange,
    negative: Boolean) {
  def negated: Term = copy(negative = !negative)
  def signed: ValueRange = if (negative) range.negated else range
}

/**
 * A place where the formula's arithmetic wraps at an end of a type. After wrapping at the upper
 * end, Spark's value is smaller than the exact sum. After wrapping at the lower end, it is larger.
 * Example with BYTE: `100 + 100` is -56.
 *
 * Consider the condition `sum <= 0`. If the site is added, a value that is too small misleads:
 * pairs match that the exact sum rejects. If the site is subtracted, a value that is too large
 * misleads. In the other two cases the exact sum accepts pairs that do not match, and the residual
 * condition rejects them.
 *
 * @param terms    the terms that are summed at this site
 * @param others   the ranges of the nested sums at this site, which are not terms themselves
 * @param range    the range to which the result is wrapped
 * @param negative whether the site is subtracted
 */
private[condition] case class OverflowSite(
    terms: Seq[Term],
    others: Seq[ValueRange],
    range: ValueRange,
    negative: Boolean) {
  def negated: OverflowSite = copy(negative = !negative)
  def sum: ValueRange = ValueRange.sum(terms.map(_.signed) ++ others)

  def misleadsAbove: Boolean = !negative
  def misleadingEnd: BigInt = if (misleadsAbove) range.high else range.low
  def mayMislead: Boolean = if (misleadsAbove) sum.high > range.high else sum.low < range.low
}

/**
 * An arithmetic expression as an exact sum of terms, without overflow.
 *
 * @param wrappings the sites at which Spark's result may wrap and so differ from the exact sum
 * @param slack     the largest difference between Spark's result and the sum for other reasons,
 *                  such as clock changes
 */
private[condition] case class LinearSum(
    terms: Seq[Term],
    wrappings: Seq[OverflowSite] = Nil,
    slack: BigInt = 0) {

  def negated: LinearSum = LinearSum(terms.map(_.negated), wrappings.map(_.negated), slack)

  def +(other: LinearSum): LinearSum =
    LinearSum(terms ++ other.terms, wrappings ++ other.wrappings, slack + other.slack)

  def -(other: LinearSum): LinearSum = this + other.negated

  /** Whether Spark's result can differ from the sum because arithmetic wraps. */
  def mayWrap: Boolean = wrappings.exists(w => !w.range.contains(w.sum))
}

/** Reads expressions as [[LinearSum]]s. */
private[condition] case class LinearSums(sides: Sides) {

  /** None if the expression is not a sum of terms that belong to one side each. */
  def of(expression: Expression): Option[LinearSum] = {
    val e = EndpointEncoding.strip(expression)
    e match {
      case _ if !EndpointEncoding.isWhole(e.dataType) => None
      case _ if !sides.isAcross(e) => oneSided(e)
      case ExactArithmetic(addends) => add(addends)
      case WrappingArithmetic(_) => wrapping(e)
      case s: SubtractTimestamps if !s.legacyInterval =>
        add(Seq(s.left -> false, s.right -> true)).map(_.copy(slack = WallClock.slack(s.zoneId)))
      case _ => None
    }
  }

  /** The sum of an endpoint that is encoded as a whole number, DECIMAL included. */
  def endpoint(e: Expression): Option[LinearSum] =
    if (EndpointEncoding.isWhole(e.dataType)) of(e)
    else Option.when(!sides.isAcross(e) && e.dataType.isInstanceOf[DecimalType])(e).flatMap(term)

  /**
   * `lesser - greater`, for `lesser < greater` or `lesser <= greater`. DATE - DATE is an interval
   * in microseconds and always a whole number of days. So the other operand is rounded to whole
   * days, and the sum counts days.
   */
  def difference(lesser: Expression, greater: Expression, strict: Boolean): Option[LinearSum] = {
    def days(micros: Expression, up: Boolean): Option[LinearSum] =
      Operand.of(micros).filter(_ => !sides.isAcross(micros)).map { micros =>
        whole(
          micros.copy(encoded = constant(WholeDays(micros.encoded, up))),
          sides.of(micros.encoded))
      }
    (EndpointEncoding.strip(lesser), EndpointEncoding.strip(greater)) match {
      case (DatesApart(l), DatesApart(g)) => for (a <- add(l); b <- add(g)) yield a - b
      case (DatesApart(l), g) => for (a <- add(l); b <- days(g, up = strict)) yield a - b
      case (l, DatesApart(g)) => for (a <- days(l, up = !strict); b <- add(g)) yield a - b
      case (l, g) => for (a <- of(l); b <- of(g)) yield a - b
    }
  }

  private object DatesApart {
    def unapply(e: Expression): Option[Seq[(Expression, Boolean)]] = e match {
      case s: SubtractDates if sides.isAcross(s) && !s.legacyInterval =>
        Some(Seq(s.left -> false, s.right -> true))
      case _ => None
    }
  }

  private def constant(e: Expression): Expression =
    if (e.foldable) Literal.create(e.eval(), LongType) else e

  private def add(addends: Seq[(Expression, Boolean)]): Option[LinearSum] =
    Operand.all(addends.map { case (e, negative) =>
      of(e).map(s => if (negative) s.negated else s)
    })
      .map(_.reduce(_ + _))

  /**
   * The sum of an expression over one side. Constants become terms of their own, so that they can
   * move to the bound. The rest of the expression stays one term: if its parts were added in
   * another order, they could overflow where the formula does not.
   */
  private def oneSided(e: Expression): Option[LinearSum] = e match {
    case ExactArithmetic(addends)
        if addends.length == 1 || addends.exists(a => sides.isConstant(a._1)) =>
      add(addends)
    case _ => term(e)
  }

  private def term(e: Expression): Option[LinearSum] =
    Operand.of(e).map(whole(_, sides.of(e), ValueRange.of(e.dataType)))

  private def whole(
      operand: Operand,
      side: Option[Side],
      range: ValueRange = ValueRange.Long): LinearSum = {
    val known = operand.encoded match {
      case Literal(value: Long, _) => ValueRange(value, value)
      case _ => range
    }
    LinearSum(Seq(Term(operand, side, known, negative = false)))
  }

  /**
   * The sum of an expression that wraps. Wrapping after each addition has the same result as
   * wrapping the whole sum once. So nested sums that wrap to the same range are one
   * [[OverflowSite]].
   */
  private def wrapping(e: Expression): Option[LinearSum] =
    Operand.all(addends(e, e.dataType).map { case (addend, negative) =>
      // The result of an inner site that wraps to another type is within that type.
      val range = ValueRange.of(EndpointEncoding.strip(addend).dataType)
      of(addend).map(sum =>
        (if (negative) sum.negated else sum) -> (if (negative) range.negated else range))
    }).map { sums =>
      val (whole, nested) = sums.partition { case (sum, _) =>
        sum.terms.length == 1 && !sum.mayWrap
      }
      val here = OverflowSite(
        whole.flatMap(_._1.terms),
        nested.map(_._2),
        ValueRange.of(e.dataType),
        negative = false)
      val sum = sums.map(_._1).reduce(_ + _)
      sum.copy(wrappings = here +: sum.wrappings)
    }

  private def addends(e: Expression, dataType: DataType): Seq[(Expression, Boolean)] =
    EndpointEncoding.strip(e) match {
      case inner @ WrappingArithmetic(terms)
          if ValueRange.of(inner.dataType) == ValueRange.of(dataType) =>
        terms.flatMap { case (term, negative) =>
          addends(term, dataType).map { case (a, n) => (a, n ^ negative) }
        }
      case other => Seq(other -> false)
    }
}

/** The clock on the wall in a time zone. */
private[condition] object WallClock {

  /**
   * The largest difference, in microseconds, between TIMESTAMP - TIMESTAMP and the time elapsed.
   * Spark subtracts readings of the clock on the wall. So the error is at most the difference
   * between the largest and the smallest UTC offset of the zone.
   */
  def slack(zone: java.time.ZoneId): BigInt = {
    import scala.jdk.CollectionConverters._
    val rules = zone.getRules
    val offsets = rules.getOffset(java.time.Instant.EPOCH) +:
      (rules.getTransitions.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter)) ++
        rules.getTransitionRules.asScala.flatMap(t =>
          Seq(t.getOffsetBefore, t.getOffsetAfter))).toSeq
    val seconds = offsets.map(_.getTotalSeconds)
    BigInt(seconds.max - seconds.min) * 1000000
  }
}
