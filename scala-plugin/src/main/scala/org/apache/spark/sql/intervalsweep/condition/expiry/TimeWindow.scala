// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.compat.SparkShims.TimestampAddInterval
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EncodedEndpoint, EndpointEncoding, ExactSum
}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{Conjuncts, Sides}
import org.apache.spark.sql.intervalsweep.condition.reading.{LinearSums, Ordered, Term, WallClock}
import org.apache.spark.sql.intervalsweep.functions.distances.DifferenceAtMost
import org.apache.spark.sql.types.DayTimeIntervalType

/**
 * One end of a window around the time of a base row, inclusive.
 *
 * @param offset microseconds from the time of the base row to the end
 * @param slack  microseconds by which the end may be further away than `offset`: the interval has
 *               days, and the clocks of the time zone change
 * @param bound  the end as a LONG over the base row, if the offset alone does not determine it
 */
case class WindowEnd(offset: Long, slack: Long = 0, bound: Option[Expression] = None) {
  def isUnbounded: Boolean = offset == WindowEnd.Unbounded
}

object WindowEnd {

  /** The offset of a lower end that no condition gives: the window has all earlier rows. */
  val Unbounded: Long = Long.MinValue

  /** The time of an end, for a base row at `time`. */
  def at(time: Long, offset: Long): Long = if (offset == Unbounded) Unbounded else time + offset
}

/**
 * A window around the time of a base row. It contains the probe rows whose time is between its
 * ends:
 * {{{
 *             lower.offset = -PRE                 upper.offset = FOL
 *    -------------[-----------------------+-------------]----------> time of the probe rows
 *                                   time of the base row
 * }}}
 */
case class TimeWindow(lower: WindowEnd, upper: WindowEnd) {

  /**
   * The time from which on the window of a base row is complete: the upper end of the window, or
   * the time of the row if that is later.
   */
  def eventTime(base: Attribute): Expression = {
    def offset = Seq(EncodedEndpoint(base), Literal(upper.offset))
    if (upper.bound.isEmpty && upper.offset <= 0) base
    else {
      val end = upper.bound.getOrElse(ExactSum.saturating(offset, Seq(false, false)))
      Greatest(Seq(base, MicrosToTimestamp(end)))
    }
  }
}

object TimeWindow {

  /**
   * A condition, split into the ends of a window and the rest.
   *
   * @param lower  the lower end, if a conjunct bounds it; likewise `upper`
   * @param others the conjuncts that the window does not decide
   */
  case class Found(
      lower: Option[WindowEnd],
      upper: Option[WindowEnd],
      others: Seq[Expression]) {

    /** The window, if the condition bounds both of its ends. */
    def window: Option[TimeWindow] = for (l <- lower; h <- upper) yield TimeWindow(l, h)

    /** The window, if the condition bounds its upper end. It may have all earlier rows. */
    def lookingBack: Option[TimeWindow] =
      upper.map(TimeWindow(lower.getOrElse(WindowEnd(WindowEnd.Unbounded)), _))

    /** The names of the ends that no conjunct bounds. */
    def missing: Seq[String] =
      Seq(lower -> "lower", upper -> "upper").collect { case (None, name) => name }
  }

  /**
   * Reads the window from a condition.
   *
   * @param condition a condition over the rows of both sides
   * @param base      the time of the base rows
   * @param probe     the time of the probe rows
   */
  def of(condition: Expression, base: Attribute, probe: Attribute): Found = {
    val ends = TimeEnds(base, probe)
    val conjuncts = Conjuncts.of(condition)
    val read = conjuncts.map(c => c -> ends.of(c.expression))
    val (lower, upper) = read.flatMap(_._2).partitionMap {
      case (end, isUpper) => if (isUpper) Right(end) else Left(end)
    }
    // An equality stays among the other conjuncts, as it is a key.
    val (from, to) = conjuncts.flatMap(c => ends.ofEquality(c.expression)).unzip
    val low = chosen(lower)(_.maxByOption(_.offset)).orElse(from.headOption)
    val high = chosen(upper)(_.minByOption(_.offset)).orElse(to.headOption)
    val decided = read.collect {
      case (c, Some((end, _))) if end.bound.isEmpty || (low ++ high).exists(_ eq end) => c
    }
    Found(
      low,
      high,
      conjuncts.filterNot(c => decided.exists(_ eq c)).map(_.whole).distinct)
  }

  /** The tightest end with a constant offset, or else the first end that depends on the row. */
  private def chosen(ends: Seq[WindowEnd])(
      tightest: Seq[WindowEnd] => Option[WindowEnd]): Option[WindowEnd] =
    tightest(ends.filter(_.bound.isEmpty)).orElse(ends.headOption)
}

/** Reads a conjunct as an end of a window. */
private[condition] case class TimeEnds(base: Attribute, probe: Attribute) {
  private val sides = Sides(AttributeSet(base), AttributeSet(probe))
  private val sums = LinearSums(sides)
  private val times = AttributeSet(Seq(base, probe))

  /** The end, and whether it is the upper end. None if the conjunct is not an end. */
  def of(conjunct: Expression): Option[(WindowEnd, Boolean)] = conjunct match {
    case Ordered(lesser, greater, strict) if conjunct.references == times =>
      exact(lesser, greater, strict).orElse(calendar(lesser, greater, strict))
    case DifferenceAtMost(later, earlier, limit) if conjunct.references == times =>
      near(EndpointEncoding.strip(later), EndpointEncoding.strip(earlier), limit)
    case _ => None
  }

  /** An end by a relation with a parameter: `later - earlier <= limit`. */
  private def near(
      later: Expression,
      earlier: Expression,
      limit: Expression): Option[(WindowEnd, Boolean)] =
    (later, earlier, Option.when(limit.foldable)(limit.eval())) match {
      case (l: Attribute, e: Attribute, Some(micros: Long)) if micros > Long.MinValue =>
        val isUpper = l.exprId == probe.exprId && e.exprId == base.exprId
        Some((WindowEnd(if (isUpper) micros else -micros), isUpper))
      case _ => None
    }

  /** Both ends of a window of one instant. */
  def ofEquality(conjunct: Expression): Option[(WindowEnd, WindowEnd)] = conjunct match {
    case EqualTo(left, right) =>
      (of(LessThanOrEqual(left, right)), of(LessThanOrEqual(right, left))) match {
        case (Some((one, true)), Some((other, false))) => Some((other, one))
        case (Some((one, false)), Some((other, true))) => Some((one, other))
        case _ => None
      }
    case _ => None
  }

  /** An end with a constant offset: `lesser - greater` is `p - b + c` or `b - p + c`. */
  private def exact(
      lesser: Expression,
      greater: Expression,
      strict: Boolean): Option[(WindowEnd, Boolean)] =
    sums.difference(lesser, greater, strict).filter(s => !s.mayWrap && s.slack == 0).flatMap {
      sum =>
        val step = if (strict) 1 else 0
        val (constants, rows) = sum.terms.partition(_.side.isEmpty)
        val offset =
          constants.map(valueOf).reduceOption(both(_, _)(_ + _)).getOrElse(Some(BigInt(0)))
        def isTime(term: Term, time: Attribute): Boolean = term.operand.encoded match {
          case EncodedEndpoint(a: Attribute) => a.exprId == time.exprId
          case _ => false
        }
        (rows.find(isTime(_, base)), rows.find(isTime(_, probe)), offset) match {
          case (Some(b), Some(p), Some(c)) if rows.size == 2 && b.negative != p.negative =>
            val end = if (b.negative) -c - step else c + step
            Option.when(end.isValidLong)((WindowEnd(end.toLong), b.negative))
          case _ => None
        }
    }

  private def both(a: Option[BigInt], b: Option[BigInt])(
      add: (BigInt, BigInt) => BigInt): Option[BigInt] =
    for (x <- a; y <- b) yield add(x, y)

  private def valueOf(term: Term): Option[BigInt] = term.operand.encoded match {
    case Literal(value: Long, _) => Some(if (term.negative) -BigInt(value) else BigInt(value))
    case e if e.foldable =>
      Option(e.eval()).map { value =>
        val number = BigInt(value.asInstanceOf[Long])
        if (term.negative) -number else number
      }
    case _ => None
  }

  /** An end by the calendar: a day-time interval that is added to the time of the base row. */
  private def calendar(
      lesser: Expression,
      greater: Expression,
      strict: Boolean): Option[(WindowEnd, Boolean)] =
    (EndpointEncoding.strip(lesser), EndpointEncoding.strip(greater)) match {
      case (p: Attribute, added: TimestampAddInterval) if p.exprId == probe.exprId =>
        end(added, if (strict) -1 else 0).map((_, true))
      case (added: TimestampAddInterval, p: Attribute) if p.exprId == probe.exprId =>
        end(added, if (strict) 1 else 0).map((_, false))
      case _ => None
    }

  private def end(added: TimestampAddInterval, step: Long): Option[WindowEnd] =
    (EndpointEncoding.strip(added.left), added.right) match {
      case (b: Attribute, by)
          if b.exprId == base.exprId && by.foldable &&
            by.dataType.isInstanceOf[DayTimeIntervalType] =>
        Option(by.eval()).map(_.asInstanceOf[Long]).map { micros =>
          val zone = added.zoneIdForType(added.left.dataType)
          if (math.abs(micros) < MICROS_PER_DAY || zone.getRules.isFixedOffset)
            WindowEnd(micros + step)
          else {
            val bound = ExactSum.saturating(
              Seq(EncodedEndpoint(added), Literal(step)),
              Seq(false, false))
            WindowEnd(micros + step, WallClock.slack(zone).toLong, Some(bound))
          }
        }
      case _ => None
    }
}
