// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, BindReferences}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.task.{SweepNode, SweepTask, SweepTasks}

/**
 * The loop over the pairs, as whole-stage code. Columns are read from the blocks' arrays at two
 * positions of which a run moves one; a column that nobody above asks for is never read. Where all
 * sweeps have the same side as boxes, that side's columns are read once a run, not once a pair.
 */
trait SweepCodegen extends SweepNode with CodegenSupport {

  /** One for the node, however often its rows are asked for. */
  def execution: SweepExecution

  override def needCopyResult: Boolean = true

  /** The loop is here: the inputs generate no code in this stage that a LIMIT could stop. */
  override protected def canCheckLimitNotReached: Boolean = true
  override def limitNotReachedChecks: Seq[String] = Nil

  override protected def doProduce(ctx: CodegenContext): String = {
    val tasks = ctx.addReferenceObj(
      "sweepTasks",
      new GeneratedTasks(this),
      classOf[SweepTasks].getName)
    val task = ctx.addMutableState(classOf[SweepTask].getName, "sweepTask", forceInline = true)
    val l = ctx.freshName("l")
    val r = ctx.freshName("r")
    val left = sideCode(ctx, LeftSide, task, l)
    val right = sideCode(ctx, RightSide, task, r)
    val hoisted = sweepCondition.sweeps.map(_.boxes).distinct match {
      // Rows of a side that are unpaired come one after the other, as points do.
      case Seq(side) if !joinOutput.isTracked(side) =>
        evaluateVariables((if (side == LeftSide) left else right).variables)
      case _ => ""
    }
    val n = ctx.freshName("pairs")
    val emitted = ctx.freshName("emitted")
    val (leftStep, rightStep) = (ctx.freshName("leftStep"), ctx.freshName("rightStep"))
    val outcome = new OutcomeCode(ctx, joinOutput.tracked.nonEmpty)
    val runs = new RunCode(ctx, task, runValues)
    val sweep = new SweepNumberCode(ctx)
    val emit = emitPair(ctx, task, outcome, left, right, runs, sweep)
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
       |  if ($task.takeChunkChange()) {
       |    ${left.reload}
       |    ${right.reload}
       |    ${runs.reload}
       |  }
       |  int $l = $task.leftRow();
       |  int $r = $task.rightRow();
       |  final int $leftStep = $task.leftStep();
       |  final int $rightStep = $task.rightStep();
       |  ${outcome.locals(task)}
       |  ${runs.locals}
       |  ${sweep.locals(task)}
       |  int $n = $task.takePairs();
       |  int $emitted = 0;
       |  ${left.locals}
       |  ${right.locals}
       |  $hoisted
       |  while ($limitNotReachedCond $n > 0) {
       |    do {
       |      ${emit(PairCode(l, r, n, emitted))}
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

  private def sideCode(
      ctx: CodegenContext,
      side: Side,
      task: String,
      position: String): SideCode = {
    val block = s"$task.${side}()"
    new SideCode(
      ctx,
      block,
      payload(side),
      position,
      mayBeAbsent = joinOutput.isTracked(side.other))
  }

  /** Code for one pair, or for a row without a partner. */
  private def emitPair(
      ctx: CodegenContext,
      task: String,
      outcome: OutcomeCode,
      left: SideCode,
      right: SideCode,
      runs: RunCode,
      sweep: SweepNumberCode): PairCode => String = {
    val attributes = left.attributes ++ right.attributes
    val variables = left.variables ++ right.variables
    val check = sweepCondition.residual.map { condition =>
      val evaluated = evaluateRequiredVariables(attributes, variables, condition.references)
      ctx.currentVars = variables :+ sweep.variable
      ctx.INPUT_ROW = null
      (
        evaluated,
        BindReferences.bindReference(
          sweep.read(condition),
          attributes :+ sweep.number).genCode(ctx))
    }
    val read =
      evaluateRequiredVariables(attributes, variables, AttributeSet(runValues.map(_.child)))
    ctx.currentVars = variables
    ctx.INPUT_ROW = null
    val ofRuns = runValues.map(_.exprId).zip(runs.variables { value =>
      BindReferences.bindReference(value, left.seen ++ right.seen).genCode(ctx)
    })
    val byId = attributes.map(_.exprId).zip(variables).toMap ++ ofRuns ++
      existence.map(a => a.exprId -> outcome.variable(a))
    pair => {
      val all = byId ++
        partialRowId.map(a => a.exprId -> new PartialRowCode(ctx, task, pair.left).variable)
      val consumed = s"$read\n${consume(ctx, output.map(a => all(a.exprId)))}"
      val checked = check.fold("") { case (evaluated, result) =>
        s"$evaluated\n${checkPair(task, outcome, pair, result)}"
      }
      s"$checked\n${pair.emitted} += 1;\n$consumed"
    }
  }

  private def runValues: Seq[Alias] = runs.getOrElse(Nil).collect { case a: Alias => a }

  /** Code that goes on to the next pair if this one is not to be emitted. */
  private def checkPair(
      task: String,
      outcome: OutcomeCode,
      pair: PairCode,
      result: ExprCode): String = {
    val check = s"${result.code}\nif (${result.isNull} || !${result.value}) continue;"
    val PairCode(l, r, n, _) = pair
    if (joinOutput.tracked.isEmpty) {
      if (!sweepCondition.hasChecks) check else s"$check\n$task.setMatched($l, $r);"
    } else if (joinOutput.hasPairs)
      s"""
         |if (${outcome.isPair}) {
         |  $check
         |  $task.setMatched($l, $r);
         |}
       """.stripMargin
    else {
      // The rest of a run has the same box: it tells nothing new of that.
      val side = joinOutput.tracked.head
      s"""
         |if (${outcome.isPair}) {
         |  if ($task.isDecided($l, $r)) continue;
         |  $check
         |  $task.setMatched($l, $r);
         |  if ($task.${side}Step() == 0) {
         |    $n = 1;
         |    $task.endRun();
         |  }
         |  continue;
         |}
       """.stripMargin
    }
  }
}

/**
 * What generated code refers to: the tasks of the node's one execution, in whose place it stands as
 * long as the query does not run. Code is generated for EXPLAIN, too.
 */
final class GeneratedTasks(node: SweepCodegen) extends SweepTasks {
  override def open(input: Iterator[InternalRow]): SweepTask = node.execution.tasks.open(input)
  private def writeReplace(): AnyRef = node.execution.tasks
}
