// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.intervalsweep.functions.distances.DifferenceAtMost

/**
 * The bound `value(of) - value(from) <= limit` on two endpoints, in microseconds.
 *
 * @param of the number of an endpoint: start and end of the left side, then of the right side
 */
final case class EndpointBound(of: Int, from: Int, limit: Long)

/**
 * A relation as bounds on the distances between endpoints. Some ends may be unknown. An unknown end
 * is after the watermark, and it is not before its start. Therefore a bound can be certain before
 * both of its endpoints are known:
 * {{{
 *      r  |------------ ...                 ISEQL_START_PRECEDING: r.ts <= s.ts AND s.ts < r.te
 *      s       |------- ...                 s.ts <= watermark < r.te, whatever r.te will be
 *   ---- r.ts s.ts -- watermark ------->
 * }}}
 * So a pair is emitted as early as is logically possible. The sweep paper (Piatov et al.,
 * Cache-efficient sweeping-based interval joins, Sections 1 and 2.1) treats starts and ends as
 * separate events of a stream for this reason.
 */
final case class OngoingCondition(distances: Seq[EndpointBound]) {
  import OngoingCondition._

  private val all = distances.toArray

  /**
   * Decides a pair: `Holds` if it satisfies the relation for certain, `Fails` if it never will,
   * `Pending` if unknown ends matter. Intervals must not end before they start.
   */
  def decide(ends: Array[Long], watermark: Long): Decision = {
    def earliest(end: Int): Long = math.max(watermark + 1, ends(startBefore(end)))
    var result: Decision = Holds
    var i = 0
    while (i < all.length && result != Fails) {
      val d = all(i)
      val (of, from) = (ends(d.of), ends(d.from))
      val decision: Decision =
        if (of != Unknown && from != Unknown) { if (of - from <= d.limit) Holds else Fails }
        else if (of != Unknown) { if (of - earliest(d.from) <= d.limit) Holds else Pending }
        else if (from != Unknown) { if (earliest(d.of) - from > d.limit) Fails else Pending }
        else Pending
      if (decision != Holds) result = decision
      i += 1
    }
    result
  }

  /**
   * Watermarks at which the outcome for a row with these ends can change, while the end of the
   * other row is unknown.
   */
  def turns(own: Side, start: Long, end: Long): Seq[Long] = for {
    d <- distances if sideOf(d.of) == own && sideOf(d.from) != own && isEnd(d.from)
    value = if (isEnd(d.of)) end else start if value != Unknown
  } yield value - d.limit - 1

  /** Whether all pairs of an ended interval are decided at some watermark. */
  def isBounded(own: Side): Boolean = expiry(own, start = 0, end = 0).isDefined

  /**
   * The watermark from which on all pairs of an ended interval are decided; None if some pairs
   * never are. Both statements are then true:
   *  - A row that starts later cannot match: an upper bound on its start or its end has passed.
   *  - Each pair with an ongoing interval is decided: an upper bound on its end has passed, or all
   *    lower bounds have.
   */
  def expiry(own: Side, start: Long, end: Long): Option[Long] = {
    def latest(d: EndpointBound): Long = (if (isEnd(d.from)) end else start) + d.limit
    val upper = distances.filter(d => sideOf(d.from) == own && sideOf(d.of) != own)
    val least = upper.map(latest).minOption
    val ofLasting = upper.filter(d => isEnd(d.of)).map(latest).minOption
      .orElse(turns(own, start, end).maxOption)
    least.map(l => ofLasting.fold(l)(math.max(l, _)))
  }
}

object OngoingCondition {
  sealed trait Decision
  case object Holds extends Decision
  case object Fails extends Decision
  case object Pending extends Decision

  val Unknown: Long = Long.MinValue

  /** The numbers of a side's start and end. */
  def startOf(side: Side): Int = 2 * side.number
  def endOf(side: Side): Int = 2 * side.number + 1

  private def sideOf(endpoint: Int): Side = Side.all(endpoint / 2)
  private def isEnd(endpoint: Int): Boolean = endpoint % 2 == 1
  private def startBefore(end: Int): Int = end - 1

  /** None if a relation compares anything but its endpoints, or has a parameter that varies. */
  def of(relation: IntervalPredicate): Option[OngoingCondition] = {
    val endpoints = Seq(relation.rStart, relation.rEnd, relation.sStart, relation.sEnd)
    def at(e: Expression): Option[Int] =
      Option(endpoints.indexWhere(_.semanticEquals(e))).filter(_ >= 0)
    def distance(of: Expression, from: Expression, limit: Long): Option[Seq[EndpointBound]] =
      for (o <- at(of); f <- at(from)) yield Seq(EndpointBound(o, f, limit))
    val each = relation.conjuncts.map {
      case LessThan(l, r) => distance(l, r, -1)
      case LessThanOrEqual(l, r) => distance(l, r, 0)
      case EqualTo(l, r) =>
        for (a <- distance(l, r, 0); b <- distance(r, l, 0)) yield a ++ b
      case DifferenceAtMost(later, earlier, Literal(limit: Long, _)) =>
        distance(later, earlier, limit)
      case _ => None
    }
    Option.when(each.forall(_.isDefined))(OngoingCondition(each.flatMap(_.get)))
  }
}
