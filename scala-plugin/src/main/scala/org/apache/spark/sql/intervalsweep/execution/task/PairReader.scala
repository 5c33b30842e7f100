// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, BaseGenericInternalRow, Expression, GenericInternalRow, JoinedRow,
  Literal,
  MutableProjection, NamedExpression, Predicate, UnsafeProjection
}
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, SweepNumber}
import org.apache.spark.sql.intervalsweep.execution.block.BlockRow
import org.apache.spark.sql.types.IntegerType

/**
 * The joined rows of a task without generated code, for interpreted plans.
 *
 * @param existence the column of an existence join: true if the unpaired row has a match
 * @param runs the aggregates over the pairs of a run
 * @param isSearched true if the matches of a box are looked through until a limit is reached
 * @param partialRowId the column of [[SweepNode.partialRowId]]
 */
case class PairReader(
    left: Seq[Attribute],
    right: Seq[Attribute],
    residual: Option[Expression],
    isSearched: Boolean,
    existence: Option[Attribute],
    joinOutput: JoinOutput,
    runs: Seq[NamedExpression],
    partialRowId: Option[Attribute],
    output: Seq[Attribute]) {

  def read(task: SweepTask): Iterator[InternalRow] = new Iterator[InternalRow] {
    private val input = left ++ right
    private val sweep = AttributeReference("sweep", IntegerType, nullable = false)()
    private val isWanted = Predicate.create(
      residual.fold[Expression](Literal.TrueLiteral)(SweepNumber.readFrom(sweep, _)),
      input :+ sweep)
    private val nullableInput = input.map(_.withNullability(true))
    private val joinedInput = nullableInput ++ existence ++ partialRowId ++ runs.map(_.toAttribute)
    private val project = UnsafeProjection.create(output, joinedInput)
    private val valuesOfPair = MutableProjection.create(runs, nullableInput)
    private val leftRow = new BlockRow(left.size)
    private val rightRow = new BlockRow(right.size)
    private val pair = new JoinedRow(leftRow, rightRow)
    private val sweepNumber = new GenericInternalRow(1)
    private val judged = new JoinedRow(pair, sweepNumber)
    private val outcome = new GenericInternalRow(existence.size + partialRowId.size)
    private val joined = new JoinedRow(pair, outcome)
    private val whole = new JoinedRow
    private val valuesOfRun = new RunRow(task, runs.size)
    private var pairs = 0
    private var isFound = false

    override def hasNext: Boolean = {
      while (!isFound && (pairs > 0 || startRun())) step()
      isFound
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException
      isFound = false
      task.emitted(1)
      if (partialRowId.isDefined)
        outcome.update(existence.size, task.partialRowIdOf(leftRow.position))
      project(whole(joined, if (task.isRun) valuesOfRun else valuesOfPair(pair)))
    }

    private def startRun(): Boolean = task.hasRun() && {
      if (task.takeChunkChange()) {
        leftRow.columns = task.left.columns
        rightRow.columns = task.right.columns
      }
      leftRow.position = task.leftRow - task.leftStep
      rightRow.position = task.rightRow - task.rightStep
      pairs = task.takePairs()
      sweepNumber.update(0, task.sweepNumber)
      if (existence.isDefined) outcome.update(0, task.hasMatch)
      true
    }

    private def step(): Unit = {
      leftRow.position += task.leftStep
      rightRow.position += task.rightStep
      pairs -= 1
      isFound = !task.isPair || isMatch && joinOutput.hasPairs
    }

    private def isMatch: Boolean = {
      val (l, r) = (leftRow.position, rightRow.position)
      val isNew = joinOutput.hasPairs || !task.isDecided(l, r)
      val matches = isNew && isWanted.eval(judged)
      if (matches) {
        task.setMatched(l, r)
        if (isSearched && task.isLastWanted()) {
          pairs = 0
          task.endRun()
        }
      }
      matches
    }
  }
}

/** The aggregates over the pairs of a task's run. */
private final class RunRow(task: SweepTask, override val numFields: Int)
    extends BaseGenericInternalRow {
  override protected def genericGet(ordinal: Int): Any = task.runColumns(ordinal).boxed(0)
  override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException
  override def update(i: Int, value: Any): Unit = throw new UnsupportedOperationException
}
