// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expiry.{ExpiryAnalysis, StateExpiry, Unbounded}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Conjuncts
import org.apache.spark.sql.types.{IntegralType, TimestampType}

/**
 * When the rows of one side expire.
 *
 * @param analysis derives the expiry from a condition, by the clock of the other side
 */
private[eventtime] case class SideExpiry(analysis: ExpiryAnalysis, expiry: StateExpiry) {

  /** Whether the row's own clock decides its expiry. */
  def dependsOnlyOn(clock: Attribute): Boolean =
    expiry.needsOrdered.isEmpty && expiry.expiry.references == AttributeSet(clock)
}

/** The clocks of both sides of a stream join, and when the rows expire. */
private[eventtime] case class JoinClocks(
    condition: Expression,
    left: SideExpiry,
    right: SideExpiry) {

  /** For each side, the column with the clock of its rows. */
  val columns: Map[Side, Attribute] =
    Map(LeftSide -> right.analysis.clock, RightSide -> left.analysis.clock)

  private def sideExpiry(side: Side): SideExpiry = if (side == LeftSide) left else right

  def expiry(side: Side): StateExpiry = sideExpiry(side).expiry

  /** By how much the clock of a side is at most before the clock of a match. None: no bound. */
  def partnerLag(side: Side): Option[Long] =
    sideExpiry(side.other).analysis.partnerLag(condition, columns(side.other))

  /**
   * The end of the intervals of a side, whose start is the clock, and by how much the clock of a
   * match may be after this end. None if the end does not limit it.
   */
  def end(side: Side): Option[(Attribute, Long)] =
    sideExpiry(side).analysis.boundingEnd(condition, columns(side))

  /** Whether a condition by itself bounds the state of both sides. */
  def isBoundedBy(condition: Expression): Boolean =
    Seq(left, right).forall(_.analysis.of(condition).isRight)
}

private[eventtime] object JoinClocks {

  /** The analysis of a side's expiry; `clock` is the clock of the other side. */
  def analysis(join: Join, side: Side, clock: Attribute): ExpiryAnalysis =
    ExpiryAnalysis(
      join.left.outputSet,
      join.right.outputSet,
      side,
      clock,
      facts(if (side == LeftSide) join.right else join.left))

  /** The conditions on columns of a plan that are true for all its rows. */
  private def facts(plan: LogicalPlan): Seq[Expression] =
    filters(plan).filter(_.references.subsetOf(plan.outputSet))

  private def filters(plan: LogicalPlan): Seq[Expression] = plan match {
    // Not checked for rows with a NULL endpoint. These match nothing, so all matches satisfy it.
    case Filter(MaxLengthHint(fact), child) => fact +: filters(child)
    case Filter(condition, child) => condition +: filters(child)
    case Project(columns, child) =>
      val renamed = AttributeMap(columns.collect {
        case alias @ Alias(column: Attribute, _) => column -> alias.toAttribute
      })
      filters(child).flatMap { e =>
        Seq(e, e.transform { case a: Attribute => renamed.getOrElse(a, a) })
      }
    case _: SubqueryAlias | _: EventTimeWatermark | _: View => filters(plan.children.head)
    case _ => Nil
  }
}

/** Finds the columns by which the rows of a stream join arrive. */
private[eventtime] final class ClockSearch(join: Join, condition: Expression) {
  private val columns: Map[Side, Seq[Attribute]] =
    Map(LeftSide -> join.left.output, RightSide -> join.right.output)

  /** Event-time columns come first, then the ends of intervals. */
  private val times: Map[Side, Seq[Attribute]] = columns.map { case (side, all) =>
    val (ofEvents, others) = all.filter(ClockMetadata.clockLag(_).isDefined)
      .partition(ClockMetadata.eventTimeLag(_).isDefined)
    side -> (ofEvents ++ others)
  }

  /**
   * The first event-time column of each side by which the rows of the other side expire. Otherwise
   * an error.
   */
  def byEventTime: Either[() => Nothing, JoinClocks] =
    if (times.values.forall(_.isEmpty)) Left(() => missing(LeftSide))
    else for (left <- expiryByTimes(LeftSide); right <- expiryByTimes(RightSide))
      yield JoinClocks(condition, left, right)

  /**
   * Row numbers, if event time does not bound the state. With watermarks, a relation asks for a
   * bound on event time.
   */
  def insteadOfEventTime: Option[JoinClocks] = {
    val hasRelation = Conjuncts.of(condition).exists(_.relation.isDefined)
    if (hasRelation && times.values.exists(_.nonEmpty)) None else byRowNumber
  }

  private def missing(side: Side): Nothing =
    MissingWatermark.fail(s"$side side", if (side == LeftSide) join.left else join.right)

  private def expiryByTimes(side: Side): Either[() => Nothing, SideExpiry] = {
    val (unbounded, found) = times(side.other).partitionMap(expiryBy(side, _))
    found.headOption.toRight(() => unbounded.headOption.fold(missing(side.other))(fail))
  }

  private def fail(unbounded: Unbounded): Nothing = {
    val side = unbounded.side
    if (unbounded.cures.isEmpty) columns(side.other).find { column =>
      column.dataType == TimestampType && condition.references.contains(column) &&
      expiryBy(side, column).isRight
    }.foreach(wanted =>
      StreamErrors.otherWatermark(
        s"${side.other} side",
        "the condition",
        StreamErrors.name(wanted),
        StreamErrors.name(unbounded.clock)))
    StreamErrors.unbounded(unbounded)
  }

  private def expiryBy(side: Side, clock: Attribute): Either[Unbounded, SideExpiry] = {
    val analysis = JoinClocks.analysis(join, side, clock)
    analysis.of(condition).map(SideExpiry(analysis, _))
  }

  /**
   * Row numbers: columns of both sides with one name, whose difference is bounded. Columns that are
   * declared as row numbers take precedence over the others. None if there are no such columns.
   */
  private def byRowNumber: Option[JoinClocks] = {
    val found = for {
      left <- columns(LeftSide) if left.dataType.isInstanceOf[IntegralType]
      right <- columns(RightSide) if right.name == left.name && !isKey(left, right)
      clocks <- numbered(left, right)
    } yield clocks
    found.find(_.columns.values.exists(ClockMetadata.disorder(_).isDefined))
      .orElse(found.headOption)
  }

  /** Whether two columns must be equal: they are a key then, and no row numbers. */
  private def isKey(left: Attribute, right: Attribute): Boolean =
    !Seq(left, right).exists(ClockMetadata.disorder(_).isDefined) &&
      Conjuncts.of(condition).map(_.expression).exists {
        case e @ (_: EqualTo | _: EqualNullSafe) => e.references == AttributeSet(Seq(left, right))
        case _ => false
      }

  private def numbered(left: Attribute, right: Attribute): Option[JoinClocks] =
    for {
      ofLeft <- expiryBy(LeftSide, right).toOption if ofLeft.dependsOnlyOn(left)
      ofRight <- expiryBy(RightSide, left).toOption if ofRight.dependsOnlyOn(right)
    } yield JoinClocks(condition, ofLeft, ofRight)
}
