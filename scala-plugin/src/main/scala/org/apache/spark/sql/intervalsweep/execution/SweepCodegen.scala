package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences}
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator, CodegenContext, ExprCode, FalseLiteral, JavaCode
}
import org.apache.spark.sql.catalyst.expressions.codegen.Block.BlockHelper
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.intervalsweep.condition.{LeftSide, RightSide}

/**
 * The loop over the pairs, as whole-stage code. Columns are read from the blocks' arrays at two
 * positions of which a run moves one; a column that nobody above asks for is never read. Where all
 * sweeps have the same side as boxes, that side's columns are read once a run, not once a pair.
 */
trait SweepCodegen extends CodegenSupport { this: IntervalSweepJoinExec =>

  /** The tasks, known only when the query runs: code is generated for EXPLAIN, too. */
  @transient protected lazy val generatedTasks: GeneratedTasks = new GeneratedTasks

  override def needCopyResult: Boolean = true

  /** The loop is here: the inputs generate no code in this stage that a LIMIT could stop. */
  override protected def canCheckLimitNotReached: Boolean = true
  override def limitNotReachedChecks: Seq[String] = Nil

  override protected def doProduce(ctx: CodegenContext): String = {
    val tasks = ctx.addReferenceObj("sweepTasks", generatedTasks)
    val task = ctx.addMutableState(classOf[SweepTask].getName, "sweepTask", forceInline = true)
    val l = ctx.freshName("l")
    val r = ctx.freshName("r")
    val left = new SideCode(ctx, s"$task.left()", payload(LeftSide), l)
    val right = new SideCode(ctx, s"$task.right()", payload(RightSide), r)
    val hoisted = sweeps.map(_.boxes).distinct match {
      case Seq(side) => evaluateVariables((if (side == LeftSide) left else right).variables)
      case _ => ""
    }
    val n = ctx.freshName("pairs")
    val emitted = ctx.freshName("emitted")
    val (leftStep, rightStep) = (ctx.freshName("leftStep"), ctx.freshName("rightStep"))
    val emit = emitPair(ctx, left, right)
    val checkStop =
      if (!parent.needStopCheck) ""
      else s"""
              |if (shouldStop()) {
              |  $task.suspend($l, $r, $n);
              |  $task.emitted($emitted);
              |  return;
              |}
            """.stripMargin
    // Not where the stage is set up: the stage of a UNION ALL sets up all its children for each
    // partition, with the input of the one child that the partition belongs to.
    s"""
       |if ($task == null) $task = $tasks.open(inputs[0]);
       |while ($limitNotReachedCond $task.hasRun()) {
       |  if ($task.takeWindowChange()) {
       |    ${left.reload}
       |    ${right.reload}
       |  }
       |  int $l = $task.leftRow();
       |  int $r = $task.rightRow();
       |  final int $leftStep = $task.leftStep();
       |  final int $rightStep = $task.rightStep();
       |  int $n = $task.takePairs();
       |  int $emitted = 0;
       |  ${left.locals}
       |  ${right.locals}
       |  $hoisted
       |  while ($limitNotReachedCond $n > 0) {
       |    do {
       |      ${emit(emitted)}
       |    } while (false);
       |    $l += $leftStep;
       |    $r += $rightStep;
       |    $n -= 1;
       |    $checkStop
       |  }
       |  $task.emitted($emitted);
       |}
     """.stripMargin
  }

  /** Code for one pair, given the name of the counter of emitted pairs. */
  private def emitPair(ctx: CodegenContext, left: SideCode, right: SideCode): String => String = {
    val attributes = left.attributes ++ right.attributes
    val variables = left.variables ++ right.variables
    val check = residual.fold("") { condition =>
      val evaluated = evaluateRequiredVariables(attributes, variables, condition.references)
      ctx.currentVars = variables
      ctx.INPUT_ROW = null
      val bound = BindReferences.bindReference(condition, attributes)
      val result = bound.genCode(ctx)
      s"""
         |$evaluated
         |${result.code}
         |if (${result.isNull} || !${result.value}) continue;
       """.stripMargin
    }
    val byId = attributes.map(_.exprId).zip(variables).toMap
    val consumed = consume(ctx, output.map(a => byId(a.exprId)))
    emitted => s"$check\n$emitted += 1;\n$consumed"
  }
}

/**
 * How generated code reads the columns of one side.
 *
 * @param block Java source of the side's block
 * @param position the variable that holds the row's position in the block
 */
private final class SideCode(
    ctx: CodegenContext,
    block: String,
    val attributes: Seq[Attribute],
    position: String) {
  private val columns = attributes.zipWithIndex.map { case (a, k) => new ColumnCode(ctx, a, k) }

  /** Fetches the columns of a new window. */
  def reload: String = columns.map(_.reload).mkString("\n")

  /** Copies the arrays into local variables, where a loop reads them fastest. */
  def locals: String = columns.map(_.locals).mkString("\n")

  /** One variable a column, whose code reads the value when it is asked for. */
  val variables: Seq[ExprCode] = columns.map(_.variable)

  private final class ColumnCode(ctx: CodegenContext, attribute: Attribute, ordinal: Int) {
    private val dataType = attribute.dataType
    private val javaClass = BlockColumn.javaClass(dataType)
    private val arrayType = BlockColumn.arrayType(dataType)
    private val column = ctx.addMutableState(javaClass, "column", forceInline = true)
    private val values = ctx.freshName("values")
    private val nulls = ctx.freshName("nulls")

    def reload: String = s"$column = ($javaClass) $block.columns()[$ordinal];"

    def locals: String = {
      val valuesOf = s"final $arrayType $values = $column.values();"
      if (attribute.nullable) s"$valuesOf\nfinal boolean[] $nulls = $column.nulls();" else valuesOf
    }

    def variable: ExprCode = {
      val javaType = CodeGenerator.javaType(dataType)
      val value = ctx.freshName("value")
      val read = BlockColumn.read(dataType, values, position)
      if (!attribute.nullable) {
        val code = code"final $javaType $value = $read;"
        ExprCode(code, FalseLiteral, JavaCode.variable(value, dataType))
      } else {
        val isNull = ctx.freshName("isNull")
        val code = code"""
            |final boolean $isNull = $nulls[$position];
            |final $javaType $value = $isNull ? ${CodeGenerator.defaultValue(dataType)} : ($read);
          """.stripMargin
        ExprCode(code, JavaCode.isNullVariable(isNull), JavaCode.variable(value, dataType))
      }
    }
  }
}
