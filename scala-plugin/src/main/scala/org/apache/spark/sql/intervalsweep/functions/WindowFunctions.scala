// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.types.{BooleanType, DataType, IntegerType, TimestampType}

/**
 * The functions `window_is_final` and `window_revision`. In batch each base row has one result row,
 * so they are the constants true and 1. Over streams, a query that selects one of them emits rows
 * before their windows are complete, and later revisions of these rows.
 *
 * @param isFinal true for `window_is_final`: whether no later revision follows. False for
 *                `window_revision`: the number of the revision, from 1 on
 */
case class WindowMark(isFinal: Boolean) extends LeafExpression {
  override def foldable: Boolean = true
  override def nullable: Boolean = false
  override def dataType: DataType = if (isFinal) BooleanType else IntegerType
  override def prettyName: String = if (isFinal) "window_is_final" else "window_revision"
  override def eval(input: InternalRow): Any = if (isFinal) true else 1
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    Literal(eval(InternalRow.empty), dataType).genCode(ctx)
}

/**
 * The time from which on the window of a row is complete: the end of the window, or the time of the
 * row if that is later. The rule `WindowTimes`, which knows the window, replaces this placeholder.
 */
case class WindowEventTime() extends LeafExpression with Placeholder {
  override def dataType: DataType = TimestampType
  override def prettyName: String = "window_event_time"

  override def unknown(): Nothing = throw new QueryError(
    "[INTERVALSWEEP_STREAM.NO_WINDOW] window_event_time() needs a time window: in a session that " +
      "was started with the extension, select it in a lateral subquery of aggregates whose WHERE " +
      "has probe.ts BETWEEN base.ts - INTERVAL ... AND base.ts + INTERVAL ..., of type TIMESTAMP",
    origin)
}

object WindowFunctions {
  def descriptions: Seq[SparkSessionExtensions#FunctionDescription] = Seq(
    description(
      WindowMark(isFinal = false),
      "the number of this revision of the result row, from 1 on",
      "1",
      AtOnce),
    description(
      WindowMark(isFinal = true),
      "whether this is the last revision of the result row",
      "true",
      AtOnce),
    description(
      WindowEventTime(),
      "the end of the window, or the time of the base row if that is later",
      "an error, because it is not in a window union",
      "Over two streams the column has a watermark, so an aggregate can group by it."))

  private val AtOnce = "Over two streams, a query that selects it emits rows at once, and again " +
    "when their windows change."

  private def description(
      function: Expression,
      what: String,
      result: String,
      onStreams: String): SparkSessionExtensions#FunctionDescription = {
    val build = (arguments: Seq[Expression]) => {
      if (arguments.nonEmpty)
        throw QueryCompilationErrors
          .wrongNumArgsError(function.prettyName, Seq(0), arguments.size)
      function
    }
    val info = FunctionInfo(
      function.getClass,
      function.prettyName,
      "misc_funcs",
      s"""
         |    _FUNC_() - In a lateral subquery that is a window union: $what.
         |      $onStreams
         |  """.stripMargin,
      examples = s"""
         |    Examples:
         |      > SELECT _FUNC_();
         |       $result
         |  """.stripMargin)
    (FunctionIdentifier(function.prettyName), info, build)
  }
}
