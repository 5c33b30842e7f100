// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
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

/** A number of one side, or a constant (then `side` is None), that is added or subtracted. */
private[condition] case class Term(
    operand: Operand,
    side: Option[Side],
    range: ValueRange,
    negative: Boolean) {
  def negated: Term = copy(negative = !negative)
  def signed: ValueRange = if (negative) range.negated else range
}

/**
 * A place where the formula's arithmetic wraps around at the ends of a type. The formula's number
 * is then too small for having gone beyond the upper end, or too large for the lower one. For
 * `sum <= 0`, a number too small misleads where it is added, and one too large where it is
 * subtracted: pairs match that the sum in the integers does not know of. The other way round, it
 * knows of too many.
 *
 * @param terms  what is summed there
 * @param others the ranges of what is summed besides, and is itself no term
 * @param range  what the result is wrapped to
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
 * An arithmetic expression as a sum of terms in the integers.
 *
 * @param wrappings where the formula's own result differs from that sum
 * @param slack     by how much it may differ otherwise
 */
private[condition] case class LinearSum(
    terms: Seq[Term],
    wrappings: Seq[OverflowSite] = Nil,
    slack: BigInt = 0) {

  def negated: LinearSum = LinearSum(terms.map(_.negated), wrappings.map(_.negated), slack)

  def +(other: LinearSum): LinearSum =
    LinearSum(terms ++ other.terms, wrappings ++ other.wrappings, slack + other.slack)

  def -(other: LinearSum): LinearSum = this + other.negated

  /** It may be that the formula wraps. */
  def mayWrap: Boolean = wrappings.exists(w => !w.range.contains(w.sum))
}

private[condition] case class LinearSums(sides: Sides) {

  /** None if the expression is no sum of numbers each of which belongs to one side. */
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

  /** An endpoint of any type that is whole once it is encoded. */
  def endpoint(e: Expression): Option[LinearSum] =
    if (EndpointEncoding.isWhole(e.dataType)) of(e)
    else Option.when(!sides.isAcross(e) && e.dataType.isInstanceOf[DecimalType])(e).flatMap(term)

  /**
   * `lesser - greater`, for `lesser < greater` or `lesser <= greater`. DATE - DATE counts in
   * microseconds and is a whole number of days, so that its bound may be rounded to one.
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
   * A constant is split off, for it to go to the bound. All else of one side stays as the formula
   * has it: summed in another order it might overflow where the formula does not.
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

  /** However often it wraps at one type on the way, the result is the sum, wrapped once. */
  private def wrapping(e: Expression): Option[LinearSum] =
    Operand.all(addends(e, e.dataType).map { case (addend, negative) =>
      // What is wrapped to another type inside, is within that type.
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

/** The clocks of a time zone. */
private[condition] object WallClock {

  /**
   * TIMESTAMP - TIMESTAMP is a difference of readings of the clock on the wall. It differs from
   * the time elapsed by at most that between the zone's extreme offsets, in microseconds.
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
