// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.intervalsweep.condition.expiry.{BandCondition, NumberBand, OrderedEnds}
import org.apache.spark.sql.intervalsweep.condition.expressions.{EncodedEndpoint, ExactSum}
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.functions.PairEventTime
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

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
 * In real-time mode more rows of micro-batch k may follow a call, so micro-batch k evicts by
 * W(k - 1).
 *
 * {{{
 *                 clock and expiry      late in micro-batch k + 1       metadata of the output
 *   ByEventTime   times, plus the lag   clock <= W(k)                   a watermark or a lag
 *   ByRowNumber   row numbers           number <= largest - disorder    the disorder of pairs
 * }}}
 */
sealed abstract class JoinWatermarks private[eventtime] (clocks: JoinClocks) {

  /** By how much a row number may be behind the largest one. None: the clock is the event time. */
  def disorder: Option[Long]

  /** The column of row numbers whose disorder is not declared, so that all rows must be in order. */
  def inOrder: Option[String] = None

  /** The clock of a row, plus the lag of its column behind the watermark. */
  def number(side: Side): Expression

  /** The expiry of a row: the `number` of a match is at most this. */
  def expiry(side: Side): Expression

  /** By how much the later clock of a returned row may be behind the watermark. */
  def eventTimeLag: Long

  /** The band of row numbers that conditions set. None if they compare anything else. */
  def band(conditions: Seq[Expression]): Option[NumberBand]

  /** Fails if `pair_event_time` reads other columns than those with the watermarks. */
  def checkAre(left: Attribute, right: Attribute, time: PairEventTime): Unit

  /** Adds the watermark, lag or disorder of a side's clock in the returned rows, if it has one. */
  protected def mark(side: Side, output: JoinOutput, plain: MetadataBuilder): Unit

  /** By how much a returned column, the end of an interval, may be behind the watermark. */
  protected def endLag(column: Attribute, output: JoinOutput): Option[Long] = None

  /** The metadata of a returned column. */
  final def metadata(column: Attribute, output: JoinOutput): Metadata = {
    val builder = ClockMetadata.cleared(column.metadata)
    Side.all.find(clocks.columns(_).exprId == column.exprId).foreach(mark(_, output, builder))
    endLag(column, output).foreach(builder.putLong(ClockMetadata.EndLag, _))
    builder.build()
  }

  /** The endpoints of a side that must be in order (start <= end) for the other side's expiry. */
  final def ordered(side: Side): Option[OrderedEnds] = clocks.expiry(side.other).needsOrdered

  /**
   * The conjuncts that compare only the two clocks, if these conjuncts by themselves bound the
   * state of both sides. Otherwise none.
   */
  final def window(conjuncts: Seq[Expression]): Seq[Expression] = {
    val both = AttributeSet(clocks.columns.values)
    val ofClocks = conjuncts.filter(_.references == both)
    if (ofClocks.nonEmpty && clocks.isBoundedBy(ofClocks.reduce(And))) ofClocks else Nil
  }
}

object JoinWatermarks {

  /**
   * By event time if the condition bounds it, or else by row numbers. Fails if the state has no
   * bound.
   */
  def apply(join: Join, condition: Expression): JoinWatermarks = {
    val search = new ClockSearch(join, condition)
    search.byEventTime.fold[JoinWatermarks](
      fail => search.insteadOfEventTime.fold[JoinWatermarks](fail())(new ByRowNumber(_)),
      new ByEventTime(_))
  }

  /** Whether only row numbers bound the state of a join. */
  def areOfRows(join: Join, condition: Expression): Boolean = {
    val search = new ClockSearch(join, condition)
    search.byEventTime.isLeft && search.insteadOfEventTime.isDefined
  }

  /**
   * The clocks are event-time columns. A column may lag behind the watermark, see
   * `ClockMetadata.EventTimeLag`. Its lag is then added to clock and expiry, so that the invariant
   * still applies.
   */
  final class ByEventTime private[eventtime] (clocks: JoinClocks) extends JoinWatermarks(clocks) {
    private def lag(side: Side): Long =
      ClockMetadata.clockLag(clocks.columns(side)).getOrElse(0L)

    override def disorder: Option[Long] = None

    override def number(side: Side): Expression =
      later(EncodedEndpoint(clocks.columns(side)), lag(side))

    override def expiry(side: Side): Expression =
      later(clocks.expiry(side).expiry, lag(side.other))

    private def later(e: Expression, by: Long): Expression =
      if (by == 0) e else ExactSum.saturating(Seq(e, Literal(by)), Seq(false, false))

    override def eventTimeLag: Long = Side.all.map(lag).max

    override def band(conditions: Seq[Expression]): Option[NumberBand] =
      Option.when(conditions.isEmpty)(NumberBand(Nil, Nil))

    override def checkAre(left: Attribute, right: Attribute, time: PairEventTime): Unit = {
      val wanted = Side.all.map(clocks.columns)
      if (wanted.map(_.exprId) != Seq(left, right).map(_.exprId))
        time.fail(s"the event-time columns of this join of streams are " +
          s"${wanted.map(_.sql).mkString(" and ")}: use these")
    }

    override protected def mark(side: Side, output: JoinOutput, plain: MetadataBuilder): Unit =
      if (output.hasPairs && output.tracked.isEmpty)
        lagOfPairs(side).foreach(ClockMetadata.putLag(plain, _))

    /**
     * A pair (r, s) is emitted in micro-batch k + 1. If s is new, its clock is above W(k), and it is
     * at most `by` after the end of r. If r is new, its start is above W(k), and so is its end: the
     * next join drops a row that ends before it starts as late.
     */
    override protected def endLag(column: Attribute, output: JoinOutput): Option[Long] =
      if (!output.hasPairs || output.tracked.nonEmpty) None
      else Side.all.flatMap(side => clocks.end(side).map(side -> _)).collectFirst {
        case (side, (end, by)) if end.exprId == column.exprId =>
          Seq(0L, lag(side), lag(side.other) + by).max
      }

    /**
     * The lag of a side's clock in the pairs. A pair is emitted with its later row, and the
     * condition may bound how far the clock of the earlier row is behind. None: no bound.
     */
    private def lagOfPairs(side: Side): Option[Long] =
      clocks.partnerLag(side).map(by => math.max(lag(side), lag(side.other) + by))
  }

  /**
   * The clocks are row numbers. The largest number so far less the disorder takes the place of W(k)
   * (see `StreamJoinSpec.arrived`).
   */
  final class ByRowNumber private[eventtime] (clocks: JoinClocks) extends JoinWatermarks(clocks) {
    private val declared: Option[Long] =
      clocks.columns.values.flatMap(ClockMetadata.disorder).maxOption
    private val bound: Long = declared.getOrElse(0L)

    override def disorder: Option[Long] = Some(bound)

    override def inOrder: Option[String] =
      Option.when(declared.isEmpty)(StreamErrors.name(clocks.columns(LeftSide)))

    override def number(side: Side): Expression = EncodedEndpoint(clocks.columns(side))

    override def expiry(side: Side): Expression = clocks.expiry(side).expiry

    override def eventTimeLag: Long = 0L

    override def band(conditions: Seq[Expression]): Option[NumberBand] =
      BandCondition(clocks.columns).of(conditions)

    override def checkAre(left: Attribute, right: Attribute, time: PairEventTime): Unit =
      time.unknown()

    override protected def mark(side: Side, output: JoinOutput, plain: MetadataBuilder): Unit =
      disorderOfPairs.foreach(plain.putLong(ClockMetadata.PairDisorder, _))

    /**
     * The disorder bound of the output: input disorder + 2 x band width. One width, because a side
     * may be ahead of the other by it; one width, because a match may be behind the new row by it.
     */
    private def disorderOfPairs: Option[Long] =
      for (left <- clocks.partnerLag(LeftSide); right <- clocks.partnerLag(RightSide))
        yield bound + 2 * math.max(left, right)
  }
}
