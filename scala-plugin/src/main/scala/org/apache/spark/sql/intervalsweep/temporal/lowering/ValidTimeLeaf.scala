// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import java.time.LocalDate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  DecodedEndpoint, EncodedEndpoint, EndpointEncoding, PeriodEndpoint
}
import org.apache.spark.sql.intervalsweep.temporal.fragments.{PeriodArithmetic, PeriodLength}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, Invalid, Nulls, TemporalErrors, ValidTime
}
import org.apache.spark.sql.types._

/**
 * A valid-time relation as `sequenced` reads it: periods are half-open, of one type and not empty.
 *
 * @param asked the part of the history that is read
 */
private[temporal] case class ValidTimeLeaf(
    relation: ValidTime,
    asked: Option[AskedPeriod] = None) {

  import relation._

  private val ownType = start.dataType

  /** The rows with their periods. */
  def history(dataType: DataType): History = {
    val all = History.of(checked, output, startAs(dataType), endAs(dataType))
    val period = all.period.get
    val isValid = LessThan(period.from, period.to)
    val valid = relation.invalid match {
      case Invalid.Drop => Filter(isValid, all.plan)
      case Invalid.Error =>
        val what = "is empty or reversed: correct it, or set invalid => 'drop'"
        Filter(orRaise(isValid, "INVALID_PERIOD", what, period.columns), all.plan)
    }
    all.copy(plan = valid)
  }

  /** The rows that are valid at an instant, without periods. */
  def snapshot(instant: Expression, dataType: DataType): LogicalPlan = {
    val rows = history(dataType)
    val at = PeriodEndpoint(instant, isEnd = false)
    Project(output, Filter(rows.period.get.contains(at), rows.plan))
  }

  /** The table's rows, without those that `nulls` drops. */
  def checked: LogicalPlan = {
    val columns = start +: end.toSeq
    val known = columns.map(IsNotNull(_)).reduce[Expression](And)
    val rows = asked.fold(child)(_.of(relation, stepUnits))
    nulls match {
      case Nulls.Unbounded => rows
      case Nulls.Drop => Filter(known, rows)
      case Nulls.Error =>
        val what = "has a NULL endpoint: replace it, or set nulls => 'unbounded' or 'drop'"
        Filter(orRaise(known, "NULL_END", what, columns), rows)
    }
  }

  private def startAs(dataType: DataType): Expression = {
    val stated = withoutSentinels(start, unboundedStart)
    as(dataType, if (closed.movesStart) next(stated, isEnd = false) else stated)
  }

  private def endAs(dataType: DataType): Expression = {
    val bound = end.fold[Expression](Literal.create(null, ownType)) { end =>
      val stated = withoutSentinels(end, unbounded)
      if (closed.movesEnd) next(stated, isEnd = true) else stated
    }
    // The largest value of a type means unbounded, but not in a wider type, so it is decoded before
    // the cast.
    if (dataType == ownType) bound
    else as(dataType, DecodedEndpoint(PeriodEndpoint(bound, isEnd = true), ownType))
  }

  /** The endpoint, or NULL if it has one of the values. */
  private def withoutSentinels(endpoint: Expression, values: Seq[Expression]): Expression =
    values.map(EqualNullSafe(endpoint, _)).reduceOption[Expression](Or).fold(endpoint) { isOne =>
      If(isOne, Literal.create(null, ownType), endpoint)
    }

  private def as(dataType: DataType, e: Expression): Expression =
    if (e.dataType == dataType) e
    else Cast(e, dataType, Some(zone))

  /**
   * The value one step later; unbounded if there is none. The year 10000 is unbounded, too: a
   * closed end of 9999-12-31 stands for no end.
   */
  private def next(end: Expression, isEnd: Boolean): Expression = {
    val number = PeriodEndpoint(end, isEnd)
    val unbounded = In(number, Seq(Literal(Long.MinValue), Literal(Long.MaxValue)))
    val moved = If(unbounded, number, PeriodArithmetic.plus(number, Literal(stepUnits)))
    val calendar = lastYear.fold[Expression](moved) { last =>
      If(EqualTo(moved, last), Literal(Long.MaxValue), moved)
    }
    if (isEnd) DecodedEndpoint(calendar, ownType)
    else {
      // Nothing is valid at the largest value. NULL would mean an unbounded start.
      val start = Least(Seq(calendar, Literal(EndpointEncoding.ofLargest(ownType))))
      If(
        EqualTo(number, Literal(Long.MinValue)),
        Literal.create(null, ownType),
        DecodedEndpoint(start, ownType, isPeriod = false))
    }
  }

  /** How far an end moves, in the unit of its LONG. */
  private lazy val stepUnits: Long = step.fold(1L)(PeriodLength(_, "step", ownType).units)

  /** The end of the year 9999, the last one of many calendars, as a number. */
  private def lastYear: Option[Expression] = ownType match {
    case DateType | TimestampType | TimestampNTZType =>
      val day = Literal(LocalDate.of(10000, 1, 1).toEpochDay.toInt, DateType)
      Some(EncodedEndpoint(as(ownType, day)))
    case _ => None
  }

  private def orRaise(
      condition: Expression,
      name: String,
      what: String,
      columns: Seq[Expression]): Expression = {
    val values = columns.map(c => Coalesce(Seq(Cast(c, StringType, Some(zone)), Literal("NULL"))))
    val message = Concat(
      Seq(Literal(TemporalErrors.text(name, "The period [")), values.head) ++
        values.tail.flatMap(v => Seq(Literal(", "), v)) :+ Literal(s") $what."))
    val raised = Cast(RaiseError(message), BooleanType)
    If(condition, Literal.TrueLiteral, raised)
  }

  private def zone = SQLConf.get.sessionLocalTimeZone
}
