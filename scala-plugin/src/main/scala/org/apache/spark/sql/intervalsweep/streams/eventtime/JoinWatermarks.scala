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
 * By what the rows of two streams come, and when they leave.
 *
 * @param columns    for each side the column by which its rows come
 * @param expiries for each side when its rows leave
 * @param partnerLag     for a side, by how much its times are at most before those of their partners
 * @param disorder   by how much numbers may be behind the largest one; None: rows come by time
 * @param bounds     whether a condition bounds both sides' state
 */
final class JoinWatermarks private (
    private val columns: Map[Side, Attribute],
    expiries: Map[Side, StateExpiry],
    partnerLag: Map[Side, Long],
    val disorder: Option[Long],
    bounds: Expression => Boolean) {

  /**
   * Of the parts of a condition those that only say how far apart the rows come, and which bound both
   * sides' state by themselves.
   */
  def window(conjuncts: Seq[Expression]): Seq[Expression] = {
    val both = AttributeSet(columns.values)
    val ofClocks = conjuncts.filter(_.references == both)
    if (ofClocks.nonEmpty && bounds(ofClocks.reduce(And))) ofClocks else Nil
  }

  /** Whether all that a condition says is how far apart the numbers of two rows are. */
  def isBand(condition: Expression): Boolean =
    disorder.isDefined && BandCondition(columns).isOne(condition)

  /** Of the rows of a side it is known that they end no earlier than they start. */
  def ordered(side: Side): Option[OrderedEnds] = expiries(side.other).needsOrdered

  /** Raises an error where a time is asked for by other columns. */
  def checkAre(left: Attribute, right: Attribute, time: PairEventTime): Unit = {
    val wanted = JoinWatermarks.sides.map(columns)
    if (disorder.isDefined) time.unknown()
    if (wanted.map(_.exprId) != Seq(left, right).map(_.exprId))
      time.fail(
        s"rows of this join of streams come by ${wanted.map(_.sql).mkString(" and ")}, which have " +
          "the watermarks: say these")
  }

  /** By how much the later one of the times of a row's sides may be behind the watermark. */
  def eventTimeLag: Long = JoinWatermarks.sides.map(eventTimeLag).max

  private def eventTimeLag(side: Side): Long =
    JoinWatermarks.eventTimeLag(columns(side)).getOrElse(0L)

  /** The time of a row as if its column did not lag behind the watermark. */
  def number(side: Side): Expression = later(EncodedEndpoint(columns(side)), eventTimeLag(side))

  /** A partner's time is at most that. */
  def expiry(side: Side): Expression = later(expiries(side).expiry, eventTimeLag(side.other))

  private def later(e: Expression, by: Long): Expression =
    if (by == 0) e else ExactSum.saturating(Seq(e, Literal(by)), Seq(false, false))

  /** Of a column of the join: whether, and how far, it lags behind the watermark. */
  def metadata(column: Attribute, output: JoinOutput): Metadata = {
    val plain = new MetadataBuilder().withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey).remove(
        JoinWatermarks.EventTimeLag).remove(JoinWatermarks.Window)
      .remove(JoinWatermarks.Disorder).remove(JoinWatermarks.Behind)
    val side = columns.collectFirst { case (side, c) if c.exprId == column.exprId => side }
    side.filter(_ => output.hasPairs && output.tracked.isEmpty).flatMap(eventTimeLagOfPairs) match {
      case Some(0L) => plain.putLong(EventTimeWatermark.delayKey, 0L)
      case Some(micros) => plain.putLong(JoinWatermarks.EventTimeLag, micros)
      case None =>
    }
    side.flatMap(_ => disorderOfPairs).foreach(plain.putLong(JoinWatermarks.Behind, _))
    plain.build()
  }

  /** A pair comes with its later row: the other row's time is not far behind, if that is bounded. */
  private def eventTimeLagOfPairs(side: Side): Option[Long] =
    if (disorder.isDefined) None
    else partnerLag.get(side).map(by => math.max(eventTimeLag(side), eventTimeLag(side.other) + by))

  /**
   * By how much a number may be behind those of rows that have left: a side has numbers up to a window
   * ahead of the other one's, and a new row's partner is up to a window behind it.
   */
  private def disorderOfPairs: Option[Long] =
    for (by <- disorder if partnerLag.size == JoinWatermarks.sides.size)
      yield by + 2 * partnerLag.values.max
}

object JoinWatermarks {

  /** Metadata of a column: by how many microseconds it may be behind the watermark. */
  val EventTimeLag = "intervalsweep.eventTimeLag"

  /** Metadata of a column of row numbers: by how much they may be behind the largest one. */
  val Disorder = "intervalsweep.disorder"

  /** The same, of one that a join of streams returns, for the order in which pairs leave. */
  val Behind = "intervalsweep.partnerLag"

  /** Metadata of a column with a watermark: a join is asked for in a window of it. */
  val Window = "intervalsweep.window"

  private val sides = Seq[Side](LeftSide, RightSide)

  /** Whether a condition is one of Python's `inequality_join`. */
  def areMarked(condition: Expression): Boolean =
    condition.references.exists { column =>
      column.metadata.contains(Disorder) || column.metadata.contains(Window)
    }

  def eventTimeLag(column: Attribute): Option[Long] =
    if (column.metadata.contains(EventTimeLag)) Some(column.metadata.getLong(EventTimeLag))
    else Option.when(column.metadata.contains(EventTimeWatermark.delayKey))(0L)

  private def inputsOf(join: Join): Map[Side, LogicalPlan] =
    Map(LeftSide -> join.left, RightSide -> join.right)

  /** How long rows of a side may find partners, which come by a column. */
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
        if (times(side.other).isEmpty) StreamJoinErrors.noWatermark(side.other)
        val each = times(side.other).map(clock => retained(side, clock).map(clock -> _))
        each.collectFirst { case Right(r) => side -> r }.getOrElse {
          StreamJoinErrors.unbounded(each.head.left.getOrElse(throw new MatchError(each)))
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

  /** By columns of one name whose difference is bounded. */
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
    // What was said to be a number of rows goes before what looks like one.
    pairs.sortBy(p => p.columns.values.flatMap(disorder).isEmpty).headOption.getOrElse(
      StreamJoinErrors.noWatermark(LeftSide))
  }

  private def disorder(column: Attribute): Option[Long] =
    Seq(Disorder, Behind).filter(column.metadata.contains).map(column.metadata.getLong)
      .reduceOption(_ + _)

  private def isBand(stateExpiry: StateExpiry, own: Attribute): Boolean =
    stateExpiry.needsOrdered.isEmpty && stateExpiry.expiry.references == AttributeSet(own)

  /** What holds for all rows of a plan. */
  private def filters(plan: LogicalPlan): Seq[Expression] = {
    def of(plan: LogicalPlan): Seq[Expression] = plan match {
      // What has a NULL for an end matches nothing, so that it holds for all partners.
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
