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
 * The columns of an aggregate that has one group per row of one side of a join. Nearly all of these
 * rows come once, with everything that the group has. The others come as partial rows.
 *
 * @param results functions over partial rows, and columns that are the same in all partial rows of
 *   a row
 * @param partialRowId the number of the row that a partial row belongs to
 * @param input the columns of partial rows, including this number
 */
case class PartialAggregates(
    results: Seq[NamedExpression],
    partialRowId: Attribute,
    input: Seq[Attribute],
    metrics: Map[String, SQLMetric])
    extends PartialRows {

  override def ofOne: Seq[Expression] = results.map(withFunctions(_)(PartialAggregates.ofOne))

  /** The result columns, computed from the buffers of the functions. */
  private[aggregates] def ofBuffers: Seq[Expression] =
    results.map(withFunctions(_)(_.evaluateExpression))

  /** The functions. Equal functions occur once, since each has its own buffers. */
  private[aggregates] val functions: Seq[DeclarativeAggregate] =
    results.flatMap(_.collect { case e: AggregateExpression =>
      PartialAggregates.function(e)
    }).distinct

  /** The columns that are read from any partial row of a row. The first is its number. */
  private[aggregates] def columns: Seq[Attribute] =
    partialRowId +: AttributeSet(ofOneColumns).toSeq.filter(input.contains)

  private def ofOneColumns: Seq[Expression] =
    results.map(withFunctions(_)(f => Literal.default(f.dataType)))

  private def withFunctions(e: Expression)(value: DeclarativeAggregate => Expression): Expression =
    e.transform { case f: AggregateExpression =>
      value(functions.find(_ == PartialAggregates.function(f)).get)
    }

  override def open(): PartialRowMerger = new AggregateMerger(this)
}

object PartialAggregates {

  private def function(e: AggregateExpression): DeclarativeAggregate =
    e.aggregateFunction.asInstanceOf[DeclarativeAggregate]

  /** The value of a function over one row, built from the function's own expressions. */
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
 * Merges the partial rows of a task. Consecutive partial rows of one row are merged at once. If the
 * group of a row is too large for memory, its partial rows come with one chunk of the other side
 * after another. They are stored, spilled if necessary, and merged after the last one: a sort by
 * row number brings them together.
 */
private final class AggregateMerger(plan: PartialAggregates) extends PartialRowMerger {
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
    SparkShims.spillingRows(PartialRows.RowsInMemory, PartialRows.BytesInMemory)
  private val count = plan.metrics(SweepMetrics.PartialRows)
  private var number = -1L

  override def add(row: InternalRow): Unit = {
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

  override def finish(): Iterator[InternalRow] =
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

/**
 * Aggregate functions over rows that belong together.
 *
 * @param updates the expressions by which a row changes the functions' buffers
 * @param results the result expressions, over the buffers and the first row
 */
private final class PartialRowFold(
    input: Seq[Attribute],
    functions: Seq[DeclarativeAggregate],
    updates: Seq[Expression],
    results: Seq[Expression]) {
  private val buffers = new AggregateBuffer(functions, input, updates)
  private val projected = UnsafeProjection.create(results, input ++ buffers.attributes)
  private val whole = new JoinedRow
  private var first: InternalRow = _

  def start(row: InternalRow): Unit = {
    first = row.copy()
    buffers.clear()
  }

  def add(row: InternalRow): Unit = buffers.add(row)

  def result: UnsafeRow = projected(whole(first, buffers.row))
}
