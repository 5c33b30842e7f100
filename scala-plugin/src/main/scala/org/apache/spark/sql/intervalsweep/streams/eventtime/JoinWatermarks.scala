// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expiry.{
  BandCondition, ExpiryAnalysis, OrderedEnds, StateExpiry, Unbounded
}
import org.apache.spark.sql.intervalsweep.condition.expressions.{EncodedEndpoint, ExactSum}
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.functions.PairEventTime
import org.apache.spark.sql.types._

/**
 * The event-time columns of both inputs of a stream join, and the rule that evicts rows from each
 * side.
 *
 * The clock of a row is its event time, or its number in a join by row numbers. The expiry of a row
 * is the largest clock that a match may have; [[ExpiryAnalysis]] derives it from the condition.
 * W(k) is the watermark of micro-batch k. Spark computes it from the rows before micro-batch k.
 *
 * Invariant: a row may be evicted when every later row of the other side has clock > expiry. The
 * later rows have clock > W(k), the watermark of the previous micro-batch, because rows with
 * clock <= W(k) are late in micro-batch k + 1 and are dropped. So micro-batch k evicts a row with
 * expiry <= W(k), after it has searched for the row's matches.
 *
 * Example: `r.ts <= s.ts AND s.ts < r.te`, both watermarks are on `ts` with a delay of 10 minutes.
 * The row r = [12:00, 12:20) arrives in micro-batch 1. A match has s.ts < 12:20, so the expiry of r
 * is 12:20 less one microsecond. The newest ts is the same on both sides.
 * {{{
 *   micro-batch   accepts       newest ts   W(k)                   r, at the end of micro-batch k
 *        1        all times     12:10       none                   is stored
 *        2        all times     12:31       12:00 = 12:10 - 0:10   expiry > 12:00, r stays
 *        3        ts > 12:00    12:32       12:21 = 12:31 - 0:10   expiry <= 12:21, r is evicted
 *        4        ts > 12:21                12:22 = 12:32 - 0:10
 * }}}
 * Micro-batch 3 still accepts s.ts = 12:05, which matches r. From micro-batch 4 on each s has
 * s.ts > 12:21, so none can match r.
 *
 * A column may lag behind the watermark, see `EventTimeLag`. Its lag is then added to clock and
 * expiry, so that the invariant still applies.
 *
 * In a join by row numbers, the largest number so far less `disorder` takes the place of W(k) (see
 * `StreamJoinSpec.arrived`). In real-time mode more rows of micro-batch k may follow a call, so
 * micro-batch k evicts by W(k - 1).
 *
 * @param columns    for each side the column with the clock of its rows
 * @param expiries   for each side the expiry of its rows
 * @param partnerLag for a side, by how much its clock is at most before the clock of a match
 * @param disorder   by how much a row number may be behind the largest one; None: by event time
 * @param bounds     whether a condition bounds the state of both sides
 */
final class JoinWatermarks private (
    private val columns: Map[Side, Attribute],
    expiries: Map[Side, StateExpiry],
    partnerLag: Map[Side, Long],
    val disorder: Option[Long],
    bounds: Expression => Boolean) {

  /**
   * The conjuncts that compare only the two clocks, if these conjuncts by themselves bound the
   * state of both sides. Otherwise none.
   */
  def window(conjuncts: Seq[Expression]): Seq[Expression] = {
    val both = AttributeSet(columns.values)
    val ofClocks = conjuncts.filter(_.references == both)
    if (ofClocks.nonEmpty && bounds(ofClocks.reduce(And))) ofClocks else Nil
  }

  /** Whether a condition only limits the distance between the numbers of two rows. */
  def isBand(condition: Expression): Boolean =
    disorder.isDefined && BandCondition(columns).isOne(condition)

  /** The endpoints of a side that must be in order (start <= end) for the other side's expiry. */
  def ordered(side: Side): Option[OrderedEnds] = expiries(side.other).needsOrdered

  /** Fails if `pair_event_time` reads other columns than those with the watermarks. */
  def checkAre(left: Attribute, right: Attribute, time: PairEventTime): Unit = {
    val wanted = JoinWatermarks.sides.map(columns)
    if (disorder.isDefined) time.unknown()
    if (wanted.map(_.exprId) != Seq(left, right).map(_.exprId))
      time.fail(
        s"the event-time columns of this join of streams are ${wanted.map(_.sql).mkString(" and ")}: " +
          "use these")
  }

  /** By how much the later clock of a returned row may be behind the watermark. */
  def eventTimeLag: Long = JoinWatermarks.sides.map(eventTimeLag).max

  private def eventTimeLag(side: Side): Long =
    JoinWatermarks.eventTimeLag(columns(side)).getOrElse(0L)

  /** The clock of a row, plus the lag of its column behind the watermark. */
  def number(side: Side): Expression = later(EncodedEndpoint(columns(side)), eventTimeLag(side))

  /** The expiry of a row: the `number` of a match is at most this. */
  def expiry(side: Side): Expression = later(expiries(side).expiry, eventTimeLag(side.other))

  private def later(e: Expression, by: Long): Expression =
    if (by == 0) e else ExactSum.saturating(Seq(e, Literal(by)), Seq(false, false))

  /** The metadata of a returned column: its watermark or its lag, if it has one. */
  def metadata(column: Attribute, output: JoinOutput): Metadata = {
    val plain = new MetadataBuilder().withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey).remove(
        JoinWatermarks.EventTimeLag).remove(JoinWatermarks.Window)
      .remove(JoinWatermarks.Disorder).remove(JoinWatermarks.PairDisorder)
    val side = columns.collectFirst { case (side, c) if c.exprId == column.exprId => side }
    side.filter(_ => output.hasPairs && output.tracked.isEmpty).flatMap(eventTimeLagOfPairs) match {
      case Some(0L) => plain.putLong(EventTimeWatermark.delayKey, 0L)
      case Some(micros) => plain.putLong(JoinWatermarks.EventTimeLag, micros)
      case None =>
    }
    side.flatMap(_ => disorderOfPairs).foreach(plain.putLong(JoinWatermarks.PairDisorder, _))
    plain.build()
  }

  /**
   * The lag of a side's clock in the pairs. A pair is emitted with its later row, and the condition
   * may bound how far the clock of the earlier row is behind. None: no bound.
   */
  private def eventTimeLagOfPairs(side: Side): Option[Long] =
    if (disorder.isDefined) None
    else partnerLag.get(side).map(by => math.max(eventTimeLag(side), eventTimeLag(side.other) + by))

  /**
   * The disorder bound of the output: input disorder + 2 x band width. One width, because a side
   * may be ahead of the other by it; one width, because a match may be behind the new row by it.
   */
  private def disorderOfPairs: Option[Long] =
    for (by <- disorder if partnerLag.size == JoinWatermarks.sides.size)
      yield by + 2 * partnerLag.values.max
}

object JoinWatermarks {

  /** Metadata key of a column: by how many microseconds it may be behind the watermark. */
  val EventTimeLag = "intervalsweep.eventTimeLag"

  /** Metadata key of a column of row numbers: by how much they may be behind the largest one. */
  val Disorder = "intervalsweep.disorder"

  /** The same for a column that a join of streams returns: the disorder that the join adds. */
  val PairDisorder = "intervalsweep.pairDisorder"

  /** Metadata key of the time column that `inequality_join` uses for a window of time. */
  val Window = "intervalsweep.window"

  private val sides = Side.all

  /** Whether a condition comes from Python's `inequality_join`, which marks its columns. */
  def areMarked(condition: Expression): Boolean =
    condition.references.exists { column =>
      column.metadata.contains(Disorder) || column.metadata.contains(Window)
    }

  def eventTimeLag(column: Attribute): Option[Long] =
    if (column.metadata.contains(EventTimeLag)) Some(column.metadata.getLong(EventTimeLag))
    else Option.when(column.metadata.contains(EventTimeWatermark.delayKey))(0L)

  private def inputsOf(join: Join): Map[Side, LogicalPlan] =
    Map(LeftSide -> join.left, RightSide -> join.right)

  /** The analysis of a side's expiry; `clock` is the clock of the other side. */
  private[streams] def expiries(join: Join, side: Side, clock: Attribute): ExpiryAnalysis =
    ExpiryAnalysis(
      join.left.outputSet,
      join.right.outputSet,
      side,
      clock,
      filters(inputsOf(join)(side.other)))

  def apply(join: Join, condition: Expression): JoinWatermarks = {
    val inputs = inputsOf(join)
    def expiries(side: Side, clock: Attribute): ExpiryAnalysis =
      JoinWatermarks.expiries(join, side, clock)
    def retained(side: Side, clock: Attribute): Either[Unbounded, StateExpiry] =
      expiries(side, clock).of(condition)

    val times = inputs.map { case (side, plan) =>
      side -> plan.output.filter(eventTimeLag(_).isDefined)
    }
    if (times.values.forall(_.isEmpty)) byNumbers(inputs, condition, expiries)
    else {
      val found = sides.map { side =>
        if (times(side.other).isEmpty) StreamErrors.noWatermark(side.other)
        val each = times(side.other).map(clock => retained(side, clock).map(clock -> _))
        each.collectFirst { case Right(r) => side -> r }.getOrElse {
          StreamErrors.unbounded(each.head.left.getOrElse(throw new MatchError(each)))
        }
      }
      val columns: Map[Side, Attribute] = found.map { case (side, (clock, _)) =>
        side.other -> clock
      }.toMap
      new JoinWatermarks(
        columns,
        found.map { case (side, (_, stateExpiry)) => side -> stateExpiry }.toMap,
        sides.flatMap { side =>
          expiries(side.other, columns(side)).partnerLag(condition, columns(side.other))
            .map(side -> _)
        }.toMap,
        None,
        e => sides.forall(side => expiries(side, columns(side.other)).of(e).isRight))
    }
  }

  /** Finds row numbers: columns of both sides with one name, whose difference is bounded. */
  private def byNumbers(
      inputs: Map[Side, LogicalPlan],
      condition: Expression,
      expiries: (Side, Attribute) => ExpiryAnalysis): JoinWatermarks = {
    val pairs = for {
      left <- inputs(LeftSide).output if left.dataType.isInstanceOf[IntegralType]
      right <- inputs(RightSide).output if right.name == left.name
      both = Seq(expiries(LeftSide, right), expiries(RightSide, left))
      ofLeft <- both.head.of(condition).toSeq
      ofRight <- both.last.of(condition).toSeq
      if isBand(ofLeft, left) && isBand(ofRight, right)
    } yield new JoinWatermarks(
      Map(LeftSide -> left, RightSide -> right),
      Map(LeftSide -> ofLeft, RightSide -> ofRight),
      Map[Side, Option[Long]](
        LeftSide -> expiries(RightSide, left).partnerLag(condition, right),
        RightSide -> expiries(LeftSide, right).partnerLag(condition, left))
        .collect { case (side, Some(by)) => side -> by },
      Some(Seq(left, right).flatMap(disorder).maxOption.getOrElse(0L)),
      e => both.forall(_.of(e).isRight))
    // Columns that are declared as row numbers take precedence over those that look like some.
    pairs.sortBy(p => p.columns.values.flatMap(disorder).isEmpty).headOption.getOrElse(
      StreamErrors.noWatermark(LeftSide))
  }

  private def disorder(column: Attribute): Option[Long] =
    Seq(Disorder, PairDisorder).filter(column.metadata.contains).map(column.metadata.getLong)
      .reduceOption(_ + _)

  private def isBand(stateExpiry: StateExpiry, own: Attribute): Boolean =
    stateExpiry.needsOrdered.isEmpty && stateExpiry.expiry.references == AttributeSet(own)

  /** Conditions that are true for all rows of a plan. */
  private def filters(plan: LogicalPlan): Seq[Expression] = {
    def of(plan: LogicalPlan): Seq[Expression] = plan match {
      // Not checked for rows with a NULL endpoint. These match nothing, so all matches satisfy it.
      case Filter(MaxLengthHint(fact), child) => fact +: of(child)
      case Filter(condition, child) => condition +: of(child)
      case Project(columns, child) =>
        val renamed = AttributeMap(columns.collect {
          case alias @ Alias(column: Attribute, _) => column -> alias.toAttribute
        })
        of(child).flatMap(e => Seq(e, e.transform { case a: Attribute => renamed.getOrElse(a, a) }))
      case _: SubqueryAlias | _: EventTimeWatermark | _: View =>
        of(plan.children.head)
      case _ => Nil
    }
    of(plan).filter(_.references.subsetOf(plan.outputSet))
  }
}
