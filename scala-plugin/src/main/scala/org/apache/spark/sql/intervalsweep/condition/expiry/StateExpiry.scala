// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.intervalsweep.compat.SparkShims.TimestampAddInterval
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EncodedEndpoint, EndpointEncoding, ExactSum, OnErrorElse
}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{Conjunct, Conjuncts, Sides}
import org.apache.spark.sql.intervalsweep.condition.reading.{
  Alternatives, BoundExpression, Comparisons, Offset, Operand, PointBounds, WallClock
}
import org.apache.spark.sql.intervalsweep.functions.distances.DifferenceAtMost
import org.apache.spark.sql.intervalsweep.functions.{IntervalPredicate, Relation, Relations}
import org.apache.spark.sql.types._

/**
 * The expiry of a stored row in a join of two streams: the event time after which it can have no
 * new match.
 * {{{
 *        r  |-----------|                        ISEQL_START_PRECEDING(r, s), the clock is s.ts
 *   ------- r.ts ------ r.te -----------> s.ts   s.ts in [r.ts, r.te): expiry r.te - 1
 *                        ^ when all rows of s up to here have arrived, r can be evicted
 * }}}
 *
 * @param expiry       a LONG over the row. The clock of each matching row is at most this value.
 *                     NULL means that the row has no matches
 * @param needsOrdered if set, the expiry is valid only for matching rows whose interval does not
 *                     end before it starts
 */
case class StateExpiry(expiry: Expression, needsOrdered: Option[OrderedEnds] = None)

/** The start and the end of one side's intervals. The start must not be after the end. */
case class OrderedEnds(start: Expression, end: Expression)

/**
 * Derives the expiry of the rows of one side of a join of two streams, from upper bounds that the
 * condition sets on the other side's event time, the clock. The derivations are tried in this
 * order:
 *
 *  1. the condition bounds the clock
 *  1. it bounds another column, and the clock is at most a constant away from that column
 *  1. it bounds the end of an interval whose start is the clock
 *  1. the condition has alternatives (OR), and each of them has an expiry
 *
 * Invariant: a row may be evicted when every later row of the other side has a clock above the
 * expiry of the row. Later rows have a clock above the watermark of the previous micro-batch.
 *
 * @param side    the side whose rows are evicted
 * @param clock   the event-time column of the other side, by which its rows arrive, up to lateness
 * @param filters conditions that are true for all rows of the other side
 */
private[intervalsweep] case class ExpiryAnalysis(
    left: AttributeSet,
    right: AttributeSet,
    side: Side,
    clock: Attribute,
    filters: Seq[Expression] = Nil) {
  private val sides = Sides(left, right)
  private val partners = if (side == LeftSide) right else left

  def of(condition: Expression): Either[Unbounded, StateExpiry] =
    of(Conjuncts.of(condition)).toRight(Unbounded(side, clock, cures(condition)))

  /**
   * The largest time by which the clock of a matching row can be before a column of the row. None
   * if it is not bounded.
   */
  def partnerLag(condition: Expression, own: Attribute): Option[Long] =
    Known(Conjuncts.of(condition)).partnerLag(own)

  /**
   * The end of the row's interval, whose start is `own`, and by how much the clock of a match may be
   * after this end. None if the end does not limit the clock.
   */
  def boundingEnd(condition: Expression, own: Attribute): Option[(Attribute, Long)] = {
    val conjuncts = Conjuncts.of(condition)
    val ends = ExpiryAnalysis.intervals(conjuncts).collect {
      case (start, end: Attribute) if EndpointEncoding.strip(start).semanticEquals(own) => end
    }
    Known(conjuncts).latest(clock).collect {
      case Shifted(EncodedEndpoint(end: Attribute), by, slack)
          if ends.exists(_.semanticEquals(end)) =>
        (end, by + slack)
    }
  }

  private def of(conjuncts: Seq[Conjunct]): Option[StateExpiry] = {
    val known = Known(conjuncts)
    known.latest(clock).orElse(known.byLinks).map(StateExpiry(_))
      .orElse(known.byOrder)
      .orElse(byAlternatives(conjuncts))
  }

  /** The expiry for alternatives: the latest of their expiries. None if an alternative has none. */
  private def byAlternatives(conjuncts: Seq[Conjunct]): Option[StateExpiry] =
    conjuncts.iterator.flatMap { either =>
      either.expression match {
        case Alternatives(several) if either.relation.isEmpty =>
          val others = conjuncts.filterNot(_ eq either)
          val each = several.map(branch => of(others ++ Conjuncts.of(branch)))
          Operand.all(each).flatMap(loosest)
        case _ => None
      }
    }.nextOption()

  private def loosest(each: Seq[StateExpiry]): Option[StateExpiry] =
    each.flatMap(_.needsOrdered).distinct match {
      case several if several.size > 1 => None
      case order => Some(StateExpiry(Greatest(each.map(_.expiry)), order.headOption))
    }

  /** The bounds that conjuncts set on the rows that match a row. */
  private case class Known(conjuncts: Seq[Conjunct]) {
    private val comparisons = Comparisons(sides)
    private val bounds: Seq[PointBounds] =
      conjuncts.flatMap(comparisons.of(_).toOption).flatMap(_.boxes.get(side)).map(_.everywhere)

    /** The upper bound, inclusive, on an expression over a matching row. */
    def latest(partner: Expression): Option[Expression] =
      Operand.of(partner).filter(_.hasValue).flatMap(of => latestOf(of.encoded))

    private def latestOf(encoded: Expression): Option[Expression] = {
      val ends = bounds.filter(_.point.semanticEquals(encoded)).flatMap(_.upper)
      BoundExpression.tightest(ends, upper = true).map(_.inclusive(upper = true))
    }

    def partnerLag(own: Attribute): Option[Long] = {
      val lower = bounds.filter(_.point.semanticEquals(EncodedEndpoint(clock))).flatMap(_.lower)
      val distances = lower.map(_.bound).collect {
        case Shifted(column, by, slack) if column.semanticEquals(EncodedEndpoint(own)) =>
          math.max(0L, slack - by)
      }
      distances.minOption
    }

    /** The upper bound on the clock that follows from a bound on another column plus a constant. */
    def byLinks: Option[Expression] = {
      val ofPartners = filters ++ conjuncts.map(_.expression).filter(isOfPartners)
      val ends = ofPartners.flatMap(linkOf).flatMap { end =>
        end.bound match {
          case Shifted(column, by, slack) =>
            val distance = Literal(by + slack - (if (end.strict) 1 else 0))
            latestOf(column).map { latest =>
              val sum = ExactSum.saturating(Seq(latest, distance), Seq(false, false))
              BoundExpression(sum, strict = false)
            }
          case _ => None
        }
      }
      BoundExpression.tightest(ends, upper = true).map(_.bound)
    }

    private def isOfPartners(e: Expression): Boolean =
      e.references.nonEmpty && e.references.subsetOf(partners)

    /** The upper bounds on the clock in facts such as `clock <= other column + constant`. */
    private def linkOf(fact: Expression): Seq[BoundExpression] = {
      val others = Sides(partners - clock, AttributeSet(clock))
      val encoded = EncodedEndpoint(clock)
      Conjuncts.of(fact).flatMap(Comparisons(others).of(_).toOption)
        .flatMap(_.boxes.get(LeftSide)).map(_.everywhere)
        .filter(_.point.semanticEquals(encoded))
        .flatMap(_.upper)
    }

    /** The expiry from a bound on the end of an interval, whose start is the clock. */
    def byOrder: Option[StateExpiry] = {
      val ordered = ExpiryAnalysis.intervals(conjuncts).collectFirst {
        case (start, end) if isClock(start) && latest(end).isDefined => OrderedEnds(start, end)
      }
      ordered.map(o => StateExpiry(latest(o.end).get, Some(o)))
    }
  }

  private def isClock(e: Expression): Boolean = EndpointEncoding.strip(e).semanticEquals(clock)

  /** The changes of a query that would give its rows an expiry. Each is tried. */
  private def cures(condition: Expression): Seq[Cure] = {
    val unit = ExpiryAnalysis.unit(clock.dataType)
    def isCured(parameter: PartialFunction[Expression, Expression]): Boolean = {
      val bounded = condition.transform(parameter)
      !bounded.fastEquals(condition) && of(Conjuncts.of(bounded)).isDefined
    }
    val byDelta = isCured {
      case p: IntervalPredicate if p.relation.delta.isDefined && p.delta.isEmpty =>
        p.copy(delta = Some(unit))
    }
    val byEpsilon = isCured {
      case p: IntervalPredicate if p.relation.epsilon.isDefined && p.epsilon.isEmpty =>
        p.copy(epsilon = Some(unit))
    }
    def withLength: Seq[Expression] = ExpiryAnalysis.intervals(Conjuncts.of(condition)).collect {
      case (start, end) if isClock(end) => DifferenceAtMost.of(end, start, unit)
    }
    val byLength =
      withLength.nonEmpty &&
        copy(filters = filters ++ withLength).of(Conjuncts.of(condition)).isDefined
    val others = condition.collect {
      case p: IntervalPredicate if p.relation.delta.isEmpty =>
        Relations.withDelta(p.relation).filter { other =>
          isCured { case `p` => p.copy(relation = other, delta = Some(unit)) }
        }
    }.flatten.distinct.map(Cure.Other(_))
    val ofNumbers = clock.dataType == TimestampType &&
      ExpiryAnalysis.intervals(Conjuncts.of(condition))
        .exists(_._1.dataType.isInstanceOf[IntegralType])
    Seq(
      Cure.Delta -> byDelta,
      Cure.Epsilon -> byEpsilon,
      Cure.MaxLength -> byLength,
      Cure.Timestamps -> ofNumbers).collect { case (c, true) => c } ++ others
  }
}

private[intervalsweep] object ExpiryAnalysis {

  /** The intervals that the relations compare, as (start, end). */
  private def intervals(conjuncts: Seq[Conjunct]): Seq[(Expression, Expression)] =
    conjuncts.flatMap(_.relation).distinct.flatMap { p =>
      Seq(p.rStart -> p.rEnd, p.sStart -> p.sEnd)
    }

  private def unit(dataType: DataType): Literal = dataType match {
    case TimestampType | TimestampNTZType => Literal(1L, DayTimeIntervalType())
    case _ => Literal(1)
  }
}

/**
 * Matches a bound as (column, constant, slack): the bound differs from `column + constant` by at
 * most `slack`.
 */
private object Shifted {
  def unapply(bound: Expression): Option[(Expression, Long, Long)] = bound match {
    case OnErrorElse(EncodedEndpoint(sum: TimestampAddInterval), _)
        if sum.right.foldable && sum.right.dataType.isInstanceOf[DayTimeIntervalType] =>
      for (by <- Option(sum.right.eval()).map(_.asInstanceOf[Long])) yield {
        // A day of the calendar can have 23 or 25 hours.
        val slack =
          if (math.abs(by) < MICROS_PER_DAY) 0L
          else WallClock.slack(sum.zoneIdForType(sum.left.dataType)).toLong
        (EncodedEndpoint(EndpointEncoding.strip(sum.left)), by, slack)
      }
    case other => Offset(other) match {
        case Offset(Seq((column, false)), by) if by.isValidLong => Some((column, by.toLong, 0L))
        case _ => None
      }
  }
}

/** A change of the query that would give its rows an expiry. */
sealed abstract class Cure(val advice: String) extends Product with Serializable

object Cure {
  case object Delta extends Cure(s"give the relation a ${Relation.Delta}")
  case object Epsilon extends Cure(s"give the relation an ${Relation.Epsilon}")
  case object MaxLength
      extends Cure(
        "limit the length of the intervals with max_length or with a filter te <= ts + ...")
  case object Timestamps
      extends Cure(
        "make the endpoints TIMESTAMP columns, for example by timestamp_millis, and call " +
          "withWatermark on one of them")
  case class Other(relation: Relation)
      extends Cure(
        s"use ${relation.functionName} with a ${Relation.Delta}, which also matches intervals " +
          "that touch")
}

/** The rows of a side have no expiry, because no bound on `clock` follows from the condition. */
case class Unbounded(side: Side, clock: Attribute, cures: Seq[Cure]) {
  def advice: String =
    cures.map(_.advice).mkString("", ", or ", if (cures.isEmpty) "" else ", or ") +
      s"add a comparison that bounds ${Unbounded.name(clock)} from above"
}

object Unbounded {

  /** The name of a column as the user wrote it: Python's joins add a number to right columns. */
  def name(column: Attribute): String = column.name.replaceFirst(" #\\d+$", "")
}
