// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression, DeclarativeAggregate
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.RowSorter

/**
 * The columns of an aggregate that has a group for each row of one side of a join, where nearly all
 * of these rows come once, with all that the group holds. The others come in pieces.
 *
 * @param results functions of pieces, and columns that are the same in all pieces of a row
 * @param partialRowId the number of the row that a piece belongs to
 * @param input the columns of pieces, this number among them
 */
case class PartialAggregates(
    results: Seq[NamedExpression],
    partialRowId: Attribute,
    input: Seq[Attribute],
    metrics: Map[String, SQLMetric]) {

  /** The columns of a row that comes once. */
  def ofOne: Seq[Expression] = results.map(withFunctions(_)(PartialAggregates.ofOne))

  /** The columns by the buffers of the functions. */
  private[aggregates] def ofBuffers: Seq[Expression] =
    results.map(withFunctions(_)(_.evaluateExpression))

  /** Of equal functions the first one: each has buffers of its own. */
  private[aggregates] val functions: Seq[DeclarativeAggregate] =
    results.flatMap(_.collect { case e: AggregateExpression =>
      PartialAggregates.function(e)
    }).distinct

  /** What is read of any piece of a row: its number comes first. */
  private[aggregates] def columns: Seq[Attribute] =
    partialRowId +: AttributeSet(ofOneColumns).toSeq.filter(input.contains)

  private def ofOneColumns: Seq[Expression] =
    results.map(withFunctions(_)(f => Literal.default(f.dataType)))

  private def withFunctions(e: Expression)(value: DeclarativeAggregate => Expression): Expression =
    e.transform { case f: AggregateExpression =>
      value(functions.find(_ == PartialAggregates.function(f)).get)
    }

  def open(): PartialRowMerger = new PartialRowMerger(this)
}

object PartialAggregates {

  private def function(e: AggregateExpression): DeclarativeAggregate =
    e.aggregateFunction.asInstanceOf[DeclarativeAggregate]

  /** The value of a function of one row, by its own expressions. */
  private def ofOne(function: DeclarativeAggregate): Expression = {
    val attributes = function.aggBufferAttributes
    val initial = AttributeMap(attributes.zip(function.initialValues))
    val updated = AttributeMap(attributes.zip(function.updateExpressions.map(_.transform {
      case a: Attribute => initial.getOrElse(a, a)
    })))
    function.evaluateExpression.transform { case a: Attribute => updated.getOrElse(a, a) }
  }
}

/**
 * The pieces of a task, put together. Those that follow one another at once; the pieces of a row whose
 * group is too large for memory come with one part of the other side after the other, and meet when
 * all are there. They are spilled, if need be.
 */
final class PartialRowMerger(plan: PartialAggregates) {
  private val functions = plan.functions
  private val buffers = functions.flatMap(_.aggBufferAttributes)
  private val stored = plan.columns ++ functions.flatMap(_.inputAggBufferAttributes)
  private val numberInInput = plan.input.indexWhere(_.exprId == plan.partialRowId.exprId)
  private lazy val added = new PartialRowFold(
    plan.input,
    functions,
    functions.flatMap(_.updateExpressions),
    plan.columns ++ buffers)
  private lazy val rows =
    SparkShims.spillingRows(PartialRowMerger.RowsInMemory, PartialRowMerger.BytesInMemory)
  private val count = plan.metrics(SweepMetrics.PartialRows)
  private var number = -1L

  def add(row: InternalRow): Unit = {
    count.add(1)
    val of = row.getLong(numberInInput)
    if (of != number) {
      store()
      added.start(row)
      number = of
    }
    added.add(row)
  }

  private def store(): Unit = if (number >= 0) rows.add(added.result)

  /** The rows that came in pieces, after the last of these. */
  def finish(): Iterator[InternalRow] =
    if (number < 0) Iterator.empty
    else {
      store()
      val schema = DataTypeUtils.fromAttributes(stored)
      val first = BoundReference(0, plan.partialRowId.dataType, nullable = false)
      val sorter = RowSorter(schema, SortOrder(first, Ascending), plan.metrics)
      val sorted = sorter.sort(rows.generateIterator())
      rows.clear()
      merged(sorted)
    }

  private def merged(sorted: Iterator[InternalRow]): Iterator[InternalRow] =
    new Iterator[InternalRow] {
      private val merge = new PartialRowFold(
        stored,
        functions,
        functions.flatMap(_.mergeExpressions),
        plan.ofBuffers)
      private val partialRows = sorted.buffered
      override def hasNext: Boolean = partialRows.hasNext
      override def next(): InternalRow = {
        val of = partialRows.head.getLong(0)
        merge.start(partialRows.head)
        while (partialRows.hasNext && partialRows.head.getLong(0) == of)
          merge.add(partialRows.next())
        merge.result
      }
    }
}

private object PartialRowMerger {
  private val RowsInMemory = 4096
  private val BytesInMemory = 4L << 20
}

/**
 * Functions of rows that belong together.
 *
 * @param updates what a row makes of the functions' buffers
 * @param results what is asked in the end, of the buffers and of the first row
 */
private final class PartialRowFold(
    input: Seq[Attribute],
    functions: Seq[DeclarativeAggregate],
    updates: Seq[Expression],
    results: Seq[Expression]) {
  private val buffers = functions.flatMap(_.aggBufferAttributes)
  private val buffer = new SpecificInternalRow(buffers.map(_.dataType))
  private val initial =
    MutableProjection.create(functions.flatMap(_.initialValues), Nil).target(buffer)
  private val updated = MutableProjection.create(updates, buffers ++ input).target(buffer)
  private val projected = UnsafeProjection.create(results, input ++ buffers)
  private val (updating, whole) = (new JoinedRow, new JoinedRow)
  private var first: InternalRow = _

  def start(row: InternalRow): Unit = {
    first = row.copy()
    initial(InternalRow.empty)
  }

  def add(row: InternalRow): Unit = updated(updating(buffer, row))

  def result: UnsafeRow = projected(whole(first, buffer))
}
