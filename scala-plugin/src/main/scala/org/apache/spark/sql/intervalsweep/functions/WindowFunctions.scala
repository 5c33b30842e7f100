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
 * What a row of a window union is: the first of its base row, and the last. So it is in batch; over
 * streams, to select one of them asks for rows before their windows are final.
 *
 * @param isFinal whether no row of its base row follows; otherwise how many there are up to it
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
 * The time from which on the window of a row cannot change any more: where it ends, or the row's own
 * time if that is later. It stands for what [[org.apache.spark.sql.intervalsweep.planner.streams.WindowTimes]]
 * makes of it, which knows the window.
 */
case class WindowEventTime() extends LeafExpression with Placeholder {
  override def dataType: DataType = TimestampType
  override def prettyName: String = "window_event_time"

  override def unknown(): Nothing = throw new QueryError(
    "[INTERVALSWEEP_STREAM.NO_WINDOW] window_event_time() is the end of a window: select it in a " +
      "lateral subquery of aggregates, in a session that was started with the extension, whose " +
      "WHERE has the TIMESTAMP of the other rows BETWEEN base.ts - INTERVAL ... AND base.ts + " +
      "INTERVAL ...",
    origin)
}

object WindowFunctions {
  def descriptions: Seq[SparkSessionExtensions#FunctionDescription] = Seq(
    description(
      WindowMark(isFinal = false),
      "the number of the row among those of its base row, from 1 on",
      "1",
      AtOnce),
    description(
      WindowMark(isFinal = true),
      "whether the row is the last one of its base row",
      "true",
      AtOnce),
    description(
      WindowEventTime(),
      "the time at which the window ends, or that of the base row if it is later",
      "an error, as it stands in no window union",
      "Over two streams the column has the watermark, so that an aggregate by it may follow."))

  private val AtOnce = "To select it over two streams has rows come out at once, and again when " +
    "their windows change."

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
