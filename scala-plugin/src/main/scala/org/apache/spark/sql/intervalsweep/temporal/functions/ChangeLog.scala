// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Window}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.intervalsweep.temporal.nodes.{PeriodSweep, TemporalErrors, UntilNext}
import org.apache.spark.sql.types.BooleanType

/**
 * A table of changes: a row is valid from an instant on.
 * {{{
 *   id | price | at | op           id | price | [at, te)
 *   1  | 10    | 3  | insert       1  | 10    | [3, 7)
 *   1  | 12    | 7  | update       1  | 12    | [7, 9)
 *   1  | 12    | 9  | delete
 * }}}
 */
private[functions] final class ChangeLog(arguments: TemporalArguments, table: LogicalPlan) {
  import arguments._

  /** The mark that the arguments describe; None without `until_next`. */
  def read(column: String => Attribute): Option[UntilNext] = {
    val keys = texts("until_next")
    if (keys.isEmpty)
      Seq("order", "deleted").foreach(name =>
        constant(name).foreach(wrong(name, "absent without until_next", _)))
    else ChangeLog.Others.foreach(name =>
      constant(name).foreach(wrong(
        name,
        "absent with until_next: a change has no end, and a NULL instant drops it",
        _)))
    keys.map(names => UntilNext(columns(names, column), columns(order, column), deleted))
  }

  private def order: Seq[String] = texts("order").getOrElse(Nil)

  private def columns(names: Seq[String], column: String => Attribute): Seq[Attribute] =
    names.map { name =>
      val found = column(name)
      if (!PeriodSweep.isComparable(found)) TemporalErrors.valueType(found, "until_next")
      found
    }

  private def deleted: Expression = text("deleted").fold[Expression](Literal.FalseLiteral) { text =>
    val session = SparkSession.active.sessionState
    val parsed = Alias(session.sqlParser.parseExpression(text), "deleted")()
    session.executePlan(Project(Seq(parsed), table)).analyzed match {
      case Project(Seq(Alias(condition, _)), _)
          if condition.dataType == BooleanType && condition.references.subsetOf(table.outputSet) =>
        Coalesce(Seq(condition, Literal.FalseLiteral))
      case _ => wrong("deleted", "a condition on a row, such as \"op = 'd'\"", Literal(text))
    }
  }

}

private[functions] object ChangeLog {
  val Options: Seq[String] = Seq("until_next", "order", "deleted")

  /** Options of `validtime` without a meaning for changes. */
  private val Others =
    Seq("te", "nulls", "invalid", "closed", "unbounded", "unbounded_start", "step")

  /**
   * The changes of a table that are valid for some time, and the column with their ends.
   * {{{
   *   Filter NOT deleted
   *     Filter number = 1                         if there is an order
   *       Window [row_number, max(next if later)] by key and instant
   *         Window [lead(at)]                     by key
   * }}}
   */
  def withEnds(table: LogicalPlan, at: Attribute, log: UntilNext): (LogicalPlan, Attribute) = {
    val inTime = Seq(SortOrder(at, Ascending))
    val next = over("next", Lead(at, Literal(1), Literal.create(null, at.dataType), false))(
      log.keys,
      inTime,
      SpecifiedWindowFrame(RowFrame, Literal(1), Literal(1)))
    val following = Window(Seq(next), log.keys, inTime, Filter(IsNotNull(at), table))
    // `lead` finds a later instant only for the last change of each instant.
    val later = If(
      GreaterThan(next.toAttribute, at),
      next.toAttribute,
      Literal.create(null, at.dataType))
    val lastFirst =
      log.order.map(SortOrder(_, Descending, NullsFirst, Nil))
    val instant = log.keys :+ at
    val end = over("te", Max(later).toAggregateExpression())(
      instant,
      lastFirst,
      SpecifiedWindowFrame(RowFrame, UnboundedPreceding, UnboundedFollowing))
    val number = over("number", RowNumber())(
      instant,
      lastFirst,
      SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow))
    val last =
      if (log.order.isEmpty) Window(Seq(end), instant, Nil, following)
      else Filter(
        EqualTo(number.toAttribute, Literal(1)),
        Window(Seq(end, number), instant, lastFirst, following))
    (Project(table.output :+ end.toAttribute, Filter(Not(log.deleted), last)), end.toAttribute)
  }

  private def over(name: String, function: Expression)(
      keys: Seq[Expression],
      order: Seq[SortOrder],
      frame: WindowFrame): Alias =
    Alias(WindowExpression(function, WindowSpecDefinition(keys, order, frame)), name)()
}
