// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.intervalsweep.functions.distances.DifferenceAtMost

/** `value(of) - value(from) <= limit`, of two endpoints in microseconds. */
final case class EndpointBound(of: Int, from: Int, limit: Long)

/**
 * A relation as distances of endpoints, of which some ends are not known yet. Of those it is known
 * that they are after the watermark, and not before their starts, so that a distance is certain before
 * both of its endpoints are:
 * {{{
 *      r  |------------ ...                 ISEQL_START_PRECEDING: r.ts <= s.ts AND s.ts < r.te
 *      s       |------- ...                 s.ts <= watermark < r.te, whatever r.te will be
 *   ---- r.ts s.ts -- watermark ------->
 * }}}
 * It is the streaming point of the sweep paper: a pair leaves as early as is logically possible.
 */
final case class OngoingCondition(distances: Seq[EndpointBound]) {
  import OngoingCondition._

  private val all = distances.toArray

  /**
   * Whether a pair fulfils the relation, or never will, or it is not known yet. No interval ends before
   * it starts.
   */
  def decide(ends: Array[Long], watermark: Long): Decision = {
    def earliest(end: Int): Long = math.max(watermark + 1, ends(startOf(end)))
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
   * From which watermarks on something may be certain of partners whose ends are not known, by a row
   * whose own ends are these.
   */
  def turns(own: Seq[Int], ends: Int => Long): Seq[Long] = distances.collect {
    case d
        if own.contains(d.of) && isEnd(d.from) && !own.contains(d.from) && ends(d.of) != Unknown =>
      ends(d.of) - d.limit - 1
  }

  /**
   * From which watermark on all pairs of a row are decided; None: of some they never are.
   *
   * No row that starts later is a partner once an upper bound on its start or its end has passed. A
   * partner that lasts is decided once an upper bound on its end has passed, or all lower ones have.
   */
  def expiry(own: Seq[Int], ends: Int => Long): Option[Long] = {
    val upper = distances.filter(d => own.contains(d.from) && !own.contains(d.of))
    val least = upper.map(d => ends(d.from) + d.limit).minOption
    val ofLasting = upper.filter(d => isEnd(d.of)).map(d => ends(d.from) + d.limit).minOption
      .orElse(turns(own, ends).maxOption)
    least.map(l => ofLasting.fold(l)(math.max(l, _)))
  }
}

object OngoingCondition {
  sealed trait Decision
  case object Holds extends Decision
  case object Fails extends Decision
  case object Pending extends Decision

  val Unknown: Long = Long.MinValue

  /** The endpoints of the left and of the right side. */
  val Left: Seq[Int] = Seq(0, 1)
  val Right: Seq[Int] = Seq(2, 3)

  private def isEnd(endpoint: Int): Boolean = endpoint == 1 || endpoint == 3
  private def startOf(end: Int): Int = end - 1

  /** None: it compares something else than endpoints, or by a parameter that is no constant. */
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
