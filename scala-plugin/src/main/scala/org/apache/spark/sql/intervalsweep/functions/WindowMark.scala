// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression, ExpressionInfo, LeafExpression, Literal
}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.types.{BooleanType, DataType, IntegerType}

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

object WindowMark {
  def descriptions: Seq[SparkSessionExtensions#FunctionDescription] = Seq(
    description(
      WindowMark(isFinal = false),
      "the number of the row among those of its base row, from 1 on",
      "1"),
    description(
      WindowMark(isFinal = true),
      "whether the row is the last one of its base row",
      "true"))

  private def description(
      mark: WindowMark,
      what: String,
      result: String): SparkSessionExtensions#FunctionDescription = {
    val build = (arguments: Seq[Expression]) => {
      if (arguments.nonEmpty)
        throw QueryCompilationErrors.wrongNumArgsError(mark.prettyName, Seq(0), arguments.size)
      mark
    }
    val info = new ExpressionInfo(
      classOf[WindowMark].getName,
      null,
      mark.prettyName,
      s"""
         |    _FUNC_() - In a lateral subquery that is a window union: $what. To select it over two
         |      streams has rows come out at once, and again when their windows change.
         |  """.stripMargin,
      "",
      s"""
         |    Examples:
         |      > SELECT _FUNC_();
         |       $result
         |  """.stripMargin,
      "",
      "misc_funcs",
      "0.1.0",
      "",
      "built-in")
    (FunctionIdentifier(mark.prettyName), info, build)
  }
}
