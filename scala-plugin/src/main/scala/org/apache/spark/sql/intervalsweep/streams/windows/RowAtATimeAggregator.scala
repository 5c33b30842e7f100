// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression, DeclarativeAggregate, ImperativeAggregate, TypedImperativeAggregate
}
import org.apache.spark.sql.intervalsweep.execution.aggregates.AggregateBuffer
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, BlockRow, RowBlock}

/**
 * Aggregates windows row by row with Spark's own functions: any function, FILTER and DISTINCT
 * included, in the order of time. The cost is the total number of rows in all windows.
 *
 * @param residual the residual condition of a base and a probe row
 */
private[streams] final class RowAtATimeAggregator(
    functions: Seq[AggregateExpression],
    base: Seq[Attribute],
    probe: Seq[Attribute],
    residual: Option[Expression]) {
  private val input = base ++ probe
  private val folds = functions.map(AccumulatedFunction(_, input)).toArray
  private val matches = residual.map(Predicate.create(_, input))

  /** Computes a column for each function, with a row for each base row. */
  def fill(
      rows: RowBlock,
      partners: RowBlock,
      runs: WindowRuns,
      columns: Array[BlockColumn]): Unit = {
    val (own, other) = (BlockRow(rows.columns), BlockRow(partners.columns))
    val pair = new JoinedRow(own, other)
    var i = 0
    while (i < rows.numRows) {
      own.position = i
      folds.foreach(_.start())
      var j = runs.first(i)
      val end = j + runs.count(i)
      while (j < end) {
        other.position = j
        if (matches.forall(_.eval(pair))) folds.foreach(_.add(pair))
        j += 1
      }
      set(i, columns)
      i += 1
    }
  }

  /** The same for rows with empty windows. */
  def fillEmpty(rows: Int, columns: Array[BlockColumn]): Unit = (0 until rows).foreach { i =>
    folds.foreach(_.start())
    set(i, columns)
  }

  private val result = new GenericInternalRow(1)

  private def set(i: Int, columns: Array[BlockColumn]): Unit =
    folds.indices.foreach { k =>
      result.update(0, folds(k).result)
      columns(k).set(i, result, 0)
    }
}

/** An aggregate function that accumulates rows. */
private sealed abstract class AccumulatedFunction(
    function: AggregateExpression,
    input: Seq[Attribute]) {
  private val isCounted = function.filter.map(Predicate.create(_, input))
  private val distinct = Option.when(function.isDistinct)(
    UnsafeProjection.create(function.aggregateFunction.children, input))
  private val seen = mutable.HashSet.empty[UnsafeRow]

  def start(): Unit = {
    seen.clear()
    initialize()
  }

  def add(row: InternalRow): Unit =
    if (isCounted.forall(_.eval(row)) && distinct.forall(values => isNew(values(row)))) update(row)

  private def isNew(values: UnsafeRow): Boolean =
    !seen.contains(values) && seen.add(values.copy())

  protected def initialize(): Unit
  protected def update(row: InternalRow): Unit
  def result: Any
}

private object AccumulatedFunction {
  def apply(e: AggregateExpression, input: Seq[Attribute]): AccumulatedFunction =
    e.aggregateFunction match {
      case declarative: DeclarativeAggregate => new DeclarativeAccumulator(e, declarative, input)
      case imperative: ImperativeAggregate => new ImperativeAccumulator(e, imperative, input)
      case other => throw new IllegalStateException(s"no way to evaluate $other")
    }
}

private final class DeclarativeAccumulator(
    e: AggregateExpression,
    function: DeclarativeAggregate,
    input: Seq[Attribute])
    extends AccumulatedFunction(e, input) {
  private val buffer = new AggregateBuffer(Seq(function), input, function.updateExpressions)
  private val evaluated =
    BindReferences.bindReference(function.evaluateExpression, buffer.attributes)

  override protected def initialize(): Unit = buffer.clear()
  override protected def update(row: InternalRow): Unit = buffer.add(row)
  override def result: Any = evaluated.eval(buffer.row)
}

private final class ImperativeAccumulator(
    e: AggregateExpression,
    unbound: ImperativeAggregate,
    input: Seq[Attribute])
    extends AccumulatedFunction(e, input) {
  private val function = {
    val bound = BindReferences.bindReference(unbound: Expression, input)
    bound.asInstanceOf[ImperativeAggregate].withNewMutableAggBufferOffset(0)
  }
  private val buffer = function match {
    case typed: TypedImperativeAggregate[_] =>
      new GenericInternalRow(typed.aggBufferAttributes.size)
    case other => new SpecificInternalRow(other.aggBufferAttributes.map(_.dataType))
  }

  override protected def initialize(): Unit = function.initialize(buffer)
  override protected def update(row: InternalRow): Unit = function.update(buffer, row)
  override def result: Any = function.eval(buffer)
}
