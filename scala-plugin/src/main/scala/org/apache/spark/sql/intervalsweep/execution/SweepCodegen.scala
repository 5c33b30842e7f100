// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, BindReferences}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.task.{SweepNode, SweepTask, SweepTasks}

/**
 * The loop over the pairs, as whole-stage generated code. It reads columns from the arrays of the
 * blocks, at two positions. Within a run, only one of the positions moves. A column that the plan
 * above does not need is never read. If all sweeps have the same side as boxes, and no row of that
 * side is emitted unpaired, its columns are read once per run, not once per pair.
 */
trait SweepCodegen extends SweepNode with CodegenSupport {

  /** One execution per node, however often its rows are requested. */
  def execution: SweepExecution

  /** False: the loop stops after each row that the plan above keeps. */
  override def needCopyResult: Boolean = false

  /**
   * The loop is in this node: the inputs generate no code in this stage that a LIMIT could stop.
   */
  override protected def canCheckLimitNotReached: Boolean = true
  override def limitNotReachedChecks: Seq[String] = Nil

  /**
   * Generates the loop over the runs of a task. For an inner join with all boxes on the left, the
   * Java code looks like this, with shortened names and one BIGINT column per side:
   *
   * {{{
   *   // Step 1: open the task. Later calls continue where the last one was suspended.
   *   if (task == null) task = tasks.open(inputs[0]);
   *   // Step 2: move to the next run, or to the next pairs of a long run.
   *   while (limitNotReached && task.hasRun()) {
   *     // Step 3: fetch the columns again, if the run is in other blocks than the last one.
   *     if (task.takeChunkChange()) {
   *       leftColumn = (LongColumn) task.left().columns()[0];
   *       rightColumn = (LongColumn) task.right().columns()[0];
   *     }
   *     // Step 4: copy whatever is constant within the run into local variables.
   *     int l = task.leftRow();
   *     int r = task.rightRow();
   *     final int leftStep = task.leftStep();       // 0: the box stays
   *     final int rightStep = task.rightStep();     // 1: the point moves
   *     final int sweepNumber = task.sweepNumber();
   *     int pairs = task.takePairs();               // moves the task on, hence last
   *     int emitted = 0;
   *     final long[] leftValues = leftColumn.values();
   *     final long[] rightValues = rightColumn.values();
   *     final long leftValue = leftValues[l];       // hoisted out of the loop over pairs
   *     while (limitNotReached && pairs > 0) {
   *       // Step 5: emit one pair. `continue` leaves the do-while and skips the pair.
   *       do {
   *         ... if the residual condition is NULL or false: continue;
   *         emitted += 1;
   *         ... code of the plan above, which reads leftValue and rightValues[r]
   *       } while (false);
   *       // Step 6: go on to the next pair.
   *       l += leftStep;
   *       r += rightStep;
   *       pairs -= 1;
   *       // Step 7: if the output buffer is full, give the rest of the run back and return.
   *       if (shouldStop()) { task.suspend(l, r, pairs); task.emitted(emitted); return; }
   *     }
   *     task.emitted(emitted);
   *   }
   * }}}
   *
   * A join that emits unpaired rows also reads `isPair` and `hasMatch` in step 4. A join with
   * aggregates of runs reads `isRun`, and for each aggregate the value of the run or of the pair.
   */
  override protected def doProduce(ctx: CodegenContext): String = {
    val tasks = ctx.addReferenceObj(
      "sweepTasks",
      new GeneratedTasks(this),
      classOf[SweepTasks].getName)
    val task = ctx.addMutableState(classOf[SweepTask].getName, "sweepTask", forceInline = true)
    // Steps 3 and 4: columns of both sides, read at the positions l and r.
    val l = ctx.freshName("l")
    val r = ctx.freshName("r")
    val left = sideCode(ctx, LeftSide, task, l)
    val right = sideCode(ctx, RightSide, task, r)
    val hoisted = sweepCondition.sweeps.map(_.boxes).distinct match {
      // Unpaired rows of a side follow one another within a run, as points do: their columns cannot
      // be hoisted.
      case Seq(side) if !joinOutput.isTracked(side) =>
        evaluateVariables((if (side == LeftSide) left else right).variables)
      case _ => ""
    }
    val n = ctx.freshName("pairs")
    val emitted = ctx.freshName("emitted")
    val (leftStep, rightStep) = (ctx.freshName("leftStep"), ctx.freshName("rightStep"))
    // Step 4: variables of the run. Step 5: code of a pair.
    val outcome = new OutcomeCode(ctx, joinOutput.tracked.nonEmpty)
    val runs = new RunCode(ctx, task, runValues)
    val sweep = new SweepNumberCode(ctx)
    val emit = emitPair(ctx, task, outcome, left, right, runs, sweep)
    // Step 7: leave between two pairs if the plan above asks for it.
    val checkStop =
      if (!parent.needStopCheck) ""
      else s"""
              |if (shouldStop()) {
              |  $task.suspend($l, $r, $n);
              |  $task.emitted($emitted);
              |  return;
              |}
            """.stripMargin
    // Step 1 is not in the stage's setup code: the stage of a UNION ALL runs the setup code of all
    // its children for each partition, with the input of the one child that the partition belongs
    // to.
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

  /** Code for one pair, or for an unpaired row. */
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

  /**
   * Code that evaluates the residual condition of a pair and marks the rows of a match. It skips a
   * pair that the join does not emit.
   */
  private def checkPair(
      task: String,
      outcome: OutcomeCode,
      pair: PairCode,
      result: ExprCode): String = {
    val check = s"${result.code}\nif (${result.isNull} || !${result.value}) continue;"
    val PairCode(l, r, n, _) = pair
    val endRun = s"$n = 1;\n$task.endRun();"
    val countWanted = if (isSearched) s"if ($task.isLastWanted()) {\n$endRun\n}" else ""
    if (joinOutput.tracked.isEmpty) {
      val marked = if (sweepCondition.hasChecks) s"$check\n$task.setMatched($l, $r);" else check
      s"$marked\n$countWanted"
    } else if (joinOutput.hasPairs)
      s"""
         |if (${outcome.isPair}) {
         |  $check
         |  $task.setMatched($l, $r);
         |  $countWanted
         |}
       """.stripMargin
    else {
      // If the tracked side is the boxes (its step is 0), the rest of the run has the same box and
      // cannot change the result: the run ends.
      val side = joinOutput.tracked.head
      s"""
         |if (${outcome.isPair}) {
         |  if ($task.isDecided($l, $r)) continue;
         |  $check
         |  $task.setMatched($l, $r);
         |  if ($task.${side}Step() == 0) {
         |    $endRun
         |  }
         |  continue;
         |}
       """.stripMargin
    }
  }
}

/**
 * The object that generated code refers to. EXPLAIN generates code, too, and must not start the
 * execution. So this object stands for the tasks of the node's only execution until it is
 * serialized, and is replaced by them then.
 */
final class GeneratedTasks(node: SweepCodegen) extends SweepTasks {
  override def open(input: Iterator[InternalRow]): SweepTask = node.execution.tasks.open(input)
  private def writeReplace(): AnyRef = node.execution.tasks
}
