// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  DecodedEndpoint, EncodedEndpoint, EndpointEncoding
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{Invalid, Nulls, ValidTime}
import org.apache.spark.sql.types.{DateType, TimestampNTZType, TimestampType}

/**
 * The part of a history that a query asks for, by `period` or `at`. The result at an instant depends
 * only on the rows that are valid then, so tables need to be read only where they overlap the part.
 * The filter reads the plain columns of the table, so that it prunes partitions and reaches files.
 *
 * @param from the first instant; NULL means no bound
 * @param to   the first instant after the part, or the last one of it if `isInstant`
 */
private[temporal] case class AskedPeriod(from: Expression, to: Expression, isInstant: Boolean) {

  /**
   * The rows of a table that may be valid in the part.
   *
   * @param step how far a closed end moves, in the unit of its LONG
   */
  def of(table: ValidTime, step: => Long): LogicalPlan = {
    // Errors for wrong periods must not depend on the part.
    val isChecked = table.nulls == Nulls.Error || table.invalid == Invalid.Error
    val conditions = if (isChecked) Nil else starts(table) ++ ends(table, step)
    conditions.reduceOption(And).fold(table.child)(Filter(_, table.child))
  }

  private def starts(table: ValidTime): Option[Expression] = bound(to, table).map { last =>
    val start = table.start
    val isIncluded = isInstant || to.dataType != start.dataType
    val begins = if (isIncluded) LessThanOrEqual(start, last) else LessThan(start, last)
    orNull(start, orOneOf(start, table.unboundedStart, begins))
  }

  private def ends(table: ValidTime, step: => Long): Option[Expression] =
    for (end <- table.end; first <- bound(from, table)) yield {
      val goesOn =
        if (table.closed.movesEnd) GreaterThanOrEqual(end, earliestEnd(first, step))
        else GreaterThan(end, first)
      orNull(end, orOneOf(end, table.unbounded, goesOn))
    }

  /**
   * A bound in the type of the table. Another type would hide the columns from the source. A date is
   * the day of a timestamp: a row of dates that overlaps the part begins up to its last day.
   */
  private def bound(e: Expression, table: ValidTime): Option[Expression] =
    (e.dataType, table.start.dataType) match {
      case _ if isNull(e) => None
      case (given, own) if given == own => Some(e)
      case (TimestampType | TimestampNTZType, DateType) =>
        Some(Cast(e, DateType, Some(SQLConf.get.sessionLocalTimeZone)))
      case _ => None
    }

  private def isNull(e: Expression): Boolean = e match {
    case Cast(child, _, _, _) => isNull(child)
    case Literal(value, _) => value == null
    case _ => false
  }

  private def orOneOf(end: Expression, values: Seq[Expression], condition: Expression) =
    values.foldLeft[Expression](condition)((or, value) => Or(or, EqualTo(end, value)))

  private def orNull(end: Expression, condition: Expression): Expression =
    if (end.nullable) Or(IsNull(end), condition) else condition

  /** The first end that is after the bound once it has moved by the step. */
  private def earliestEnd(bound: Expression, step: Long): Expression = {
    val number = EncodedEndpoint(bound)
    val smallest = -EndpointEncoding.ofLargest(bound.dataType) - 1
    val moved = If(
      LessThan(number, Literal(smallest + step)),
      Literal(smallest),
      Subtract(number, Literal(step - 1), EvalMode.LEGACY))
    DecodedEndpoint(moved, bound.dataType, isPeriod = false)
  }
}
