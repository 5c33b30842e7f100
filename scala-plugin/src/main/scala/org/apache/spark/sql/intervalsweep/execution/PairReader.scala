package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, BaseGenericInternalRow, Expression, JoinedRow, Literal, Predicate, UnsafeProjection
}
import org.apache.spark.sql.intervalsweep.condition.{LeftSide, RightSide}

/** The joined rows of a task without generated code around it: for plans that are interpreted. */
case class PairReader(
    left: Seq[Attribute],
    right: Seq[Attribute],
    residual: Option[Expression],
    output: Seq[Attribute]) {

  def read(task: SweepTask): Iterator[InternalRow] = new Iterator[InternalRow] {
    private val input = left ++ right
    private val isWanted = Predicate.create(residual.getOrElse(Literal.TrueLiteral), input)
    private val project = UnsafeProjection.create(output, input)
    private val leftRow = new BlockRow(left.size)
    private val rightRow = new BlockRow(right.size)
    private val pair = new JoinedRow(leftRow, rightRow)
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
      project(pair)
    }

    private def startRun(): Boolean = task.hasRun() && {
      if (task.takeWindowChange()) {
        leftRow.block = task.left
        rightRow.block = task.right
      }
      pairs = task.takePairs()
      leftRow.position = task.leftRow - task.leftStep
      rightRow.position = task.rightRow - task.rightStep
      true
    }

    private def step(): Unit = {
      leftRow.position += task.leftStep
      rightRow.position += task.rightStep
      pairs -= 1
      isFound = isWanted.eval(pair)
    }
  }
}

object PairReader {
  def apply(node: IntervalSweepJoinExec): PairReader =
    PairReader(node.payload(LeftSide), node.payload(RightSide), node.residual, node.output)
}

/** A row of a block, as Catalyst reads rows. */
final class BlockRow(override val numFields: Int) extends BaseGenericInternalRow {
  var block: RowBlock = _
  var position = 0

  override protected def genericGet(ordinal: Int): Any = block.columns(ordinal).boxed(position)
  override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException
  override def update(i: Int, value: Any): Unit = throw new UnsupportedOperationException
}
