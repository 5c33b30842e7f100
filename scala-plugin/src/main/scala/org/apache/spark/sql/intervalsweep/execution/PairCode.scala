// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator, CodegenContext, ExprCode, FalseLiteral, JavaCode
}
import org.apache.spark.sql.catalyst.expressions.codegen.Block.BlockHelper
import org.apache.spark.sql.intervalsweep.condition.model.SweepNumber
import org.apache.spark.sql.intervalsweep.execution.block.BlockColumn
import org.apache.spark.sql.types.{IntegerType, LongType}

/**
 * The variables of a pair in generated code: positions, pairs left in the run, and rows emitted.
 */
private case class PairCode(left: String, right: String, pairs: String, emitted: String)

/**
 * Generated code that tells pairs from unpaired rows, and unpaired rows with a match from the
 * others.
 */
private final class OutcomeCode(ctx: CodegenContext, isNeeded: Boolean) {
  val isPair: String = ctx.freshName("isPair")
  private val hasMatch = ctx.freshName("hasMatch")

  /** Variables that stay the same for a whole run. */
  def locals(task: String): String =
    if (!isNeeded) ""
    else
      s"""
         |final boolean $isPair = $task.isPair();
         |final boolean $hasMatch = $task.hasMatch();
       """.stripMargin

  /** The column of an existence join: true if the row has a match. */
  def variable(exists: Attribute): ExprCode =
    ExprCode(FalseLiteral, JavaCode.variable(hasMatch, exists.dataType))
}

/** Generated code that reads which sweep found the pairs of a run. */
private final class SweepNumberCode(ctx: CodegenContext) {
  val number: Attribute = AttributeReference("sweep", IntegerType, nullable = false)()
  private val name = ctx.freshName("sweepNumber")

  def read(residual: Expression): Expression = SweepNumber.readFrom(number, residual)

  def locals(task: String): String = s"final int $name = $task.sweepNumber();"

  def variable: ExprCode = ExprCode(FalseLiteral, JavaCode.variable(name, IntegerType))
}

/** Generated code that reads which row of the left side a partial row belongs to. */
private final class PartialRowCode(ctx: CodegenContext, task: String, position: String) {
  private val name = ctx.freshName("partialRowId")

  def variable: ExprCode = ExprCode(
    code"final long $name = $task.partialRowIdOf($position);",
    FalseLiteral,
    JavaCode.variable(name, LongType))
}

/** Generated code that reads the aggregates over the pairs of a run. */
private final class RunCode(ctx: CodegenContext, task: String, values: Seq[Alias]) {
  private val isRun = ctx.freshName("isRun")
  private val columns = values.map(value =>
    ctx.addMutableState(
      BlockColumn.javaClass(value.dataType),
      "runColumn",
      forceInline = true))

  def reload: String = values.zip(columns).zipWithIndex.map { case ((value, column), k) =>
    s"$column = (${BlockColumn.javaClass(value.dataType)}) $task.runColumns()[$k];"
  }.mkString("\n")

  /** Variables that stay the same for a whole run. */
  def locals: String = if (values.isEmpty) "" else s"final boolean $isRun = $task.isRun();"

  /** @param ofPair generates code for the value of one pair */
  def variables(ofPair: Expression => ExprCode): Seq[ExprCode] =
    values.zip(columns).map { case (value, column) => variable(value, column, ofPair(value.child)) }

  private def variable(value: Alias, column: String, ofPair: ExprCode): ExprCode = {
    val dataType = value.dataType
    val javaType = CodeGenerator.javaType(dataType)
    val isNull = ctx.freshName("isNull")
    val result = ctx.freshName("value")
    val default = CodeGenerator.defaultValue(dataType)
    val read = BlockColumn.read(dataType, s"$column.values()", "0")
    val code = code"""
        |final boolean $isNull;
        |final $javaType $result;
        |if ($isRun) {
        |  $isNull = $column.nulls()[0];
        |  $result = $isNull ? $default : ($read);
        |} else {
        |  ${ofPair.code}
        |  $isNull = ${ofPair.isNull};
        |  $result = ${ofPair.value};
        |}
      """.stripMargin
    ExprCode(code, JavaCode.isNullVariable(isNull), JavaCode.variable(result, dataType))
  }
}

/**
 * Generated code that reads the columns of one side.
 *
 * @param block Java source of the side's block
 * @param position the variable with the row's position in the block
 * @param mayBeAbsent true if the position may be -1: the row is then absent, and all its columns
 *   are NULL
 */
private final class SideCode(
    ctx: CodegenContext,
    block: String,
    val attributes: Seq[Attribute],
    position: String,
    mayBeAbsent: Boolean) {
  private val columns = attributes.zipWithIndex.map { case (a, k) => new ColumnCode(ctx, a, k) }

  /** The columns as a pair has them: nullable if the row may be absent. */
  def seen: Seq[Attribute] = attributes.map(a => a.withNullability(a.nullable || mayBeAbsent))

  /** Fetches the columns of a new chunk. */
  def reload: String = columns.map(_.reload).mkString("\n")

  /** Copies the arrays into local variables, which a loop reads fastest. */
  def locals: String = columns.map(_.locals).mkString("\n")

  /** One variable per column. Its code reads the value where the plan first needs it. */
  val variables: Seq[ExprCode] = columns.map(_.variable)

  private final class ColumnCode(ctx: CodegenContext, attribute: Attribute, ordinal: Int) {
    private val dataType = attribute.dataType
    private val isNullable = attribute.nullable || mayBeAbsent
    private val javaClass = BlockColumn.javaClass(dataType)
    private val arrayType = BlockColumn.arrayType(dataType)
    private val column = ctx.addMutableState(javaClass, "column", forceInline = true)
    private val values = ctx.freshName("values")
    private val nulls = ctx.freshName("nulls")

    def reload: String = s"$column = ($javaClass) $block.columns()[$ordinal];"

    def locals: String = {
      val valuesOf = s"final $arrayType $values = $column.values();"
      if (isNullable) s"$valuesOf\nfinal boolean[] $nulls = $column.nullsIfAny();" else valuesOf
    }

    def variable: ExprCode = {
      val javaType = CodeGenerator.javaType(dataType)
      val value = ctx.freshName("value")
      val read = BlockColumn.read(dataType, values, position)
      if (!isNullable) {
        val code = code"final $javaType $value = $read;"
        ExprCode(code, FalseLiteral, JavaCode.variable(value, dataType))
      } else {
        val isNull = ctx.freshName("isNull")
        val absent = if (mayBeAbsent) s"$position < 0 || " else ""
        val code = code"""
            |final boolean $isNull = $absent$nulls != null && $nulls[$position];
            |final $javaType $value = $isNull ? ${CodeGenerator.defaultValue(dataType)} : ($read);
          """.stripMargin
        ExprCode(code, JavaCode.isNullVariable(isNull), JavaCode.variable(value, dataType))
      }
    }
  }
}
