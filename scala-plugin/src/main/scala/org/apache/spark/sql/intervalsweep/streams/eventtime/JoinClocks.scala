// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expiry.{ExpiryAnalysis, StateExpiry, Unbounded}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.types.IntegralType

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

  private val times: Map[Side, Seq[Attribute]] =
    columns.map { case (side, all) => side -> all.filter(ClockMetadata.eventTimeLag(_).isDefined) }

  def hasTimes: Boolean = times.values.exists(_.nonEmpty)

  /** The first event-time column of each side by which the rows of the other side expire. */
  def byEventTime: JoinClocks =
    JoinClocks(condition, expiryByTimes(LeftSide), expiryByTimes(RightSide))

  private def expiryByTimes(side: Side): SideExpiry = {
    val (unbounded, found) = times(side.other).partitionMap(expiryBy(side, _))
    found.headOption.getOrElse {
      unbounded.headOption.fold(StreamErrors.noWatermark(side.other))(StreamErrors.unbounded)
    }
  }

  private def expiryBy(side: Side, clock: Attribute): Either[Unbounded, SideExpiry] = {
    val analysis = JoinClocks.analysis(join, side, clock)
    analysis.of(condition).map(SideExpiry(analysis, _))
  }

  /**
   * Row numbers: columns of both sides with one name, whose difference is bounded. Columns that are
   * declared as row numbers take precedence over the others.
   */
  def byRowNumber: JoinClocks = {
    val found = for {
      left <- columns(LeftSide) if left.dataType.isInstanceOf[IntegralType]
      right <- columns(RightSide) if right.name == left.name
      clocks <- numbered(left, right)
    } yield clocks
    found.find(_.columns.values.exists(ClockMetadata.disorder(_).isDefined))
      .orElse(found.headOption)
      .getOrElse(StreamErrors.noWatermark(LeftSide))
  }

  private def numbered(left: Attribute, right: Attribute): Option[JoinClocks] =
    for {
      ofLeft <- expiryBy(LeftSide, right).toOption if ofLeft.dependsOnlyOn(left)
      ofRight <- expiryBy(RightSide, left).toOption if ofRight.dependsOnlyOn(right)
    } yield JoinClocks(condition, ofLeft, ofRight)
}
