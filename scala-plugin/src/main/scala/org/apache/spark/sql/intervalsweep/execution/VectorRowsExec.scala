// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, Expression, IsNotNull, LessThan, NamedExpression, Predicate, PredicateHelper,
  SortOrder
}
import org.apache.spark.sql.execution.{
  ColumnarToRowTransition, OrderPreservingUnaryExecNode, PartitioningPreservingUnaryExecNode,
  SparkPlan
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.execution.packing.{BatchedRows, ReturnsBatches, RowBatch}
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * The filtered rows of a columnar plan, in batches. An IntervalSweepJoin splits rows into columns,
 * so the columns of the plan are never turned into rows.
 *
 * @param condition a filter over the columns of `child`
 * @param columns what [[VectorRowsExec.reads]], all of types that [[RowBatch.takes]]
 */
case class VectorRowsExec(
    condition: Option[Expression],
    columns: Seq[NamedExpression],
    child: SparkPlan)
    extends ColumnarToRowTransition
    with PartitioningPreservingUnaryExecNode
    with OrderPreservingUnaryExecNode
    with ReturnsBatches {
  override def nodeName: String = "VectorRows"
  override def output: Seq[Attribute] = columns.map(_.toAttribute)
  override protected def outputExpressions: Seq[NamedExpression] = columns
  override protected def orderingExpressions: Seq[SortOrder] = child.outputOrdering

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputBatches" -> SQLMetrics.createMetric(sparkContext, "number of input batches"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (input, filter) = (child.output, condition)
    val read = columns.map {
      case Alias(value, _) => value
      case column => column
    }
    val (batches, rows) = (longMetric("numInputBatches"), longMetric("numOutputRows"))
    child.executeColumnar().mapPartitionsInternal { partition =>
      new VectorRows(partition, read, input, filter, batches, rows)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): VectorRowsExec =
    copy(child = newChild)
}

object VectorRowsExec {

  /** True for a column, perhaps with another name, and for what [[VectorValues]] computes. */
  def reads(value: NamedExpression): Boolean = value match {
    case _: Attribute | Alias(_: Attribute, _) => true
    case Alias(number, _) => VectorValues.computes(number)
    case _ => false
  }
}

private final class VectorRows(
    batches: Iterator[ColumnarBatch],
    output: Seq[Expression],
    input: Seq[Attribute],
    condition: Option[Expression],
    numBatches: SQLMetric,
    numRows: SQLMetric)
    extends BatchedRows(output.map(_.dataType).toArray) {
  private val known = mutable.Map.empty[Int, VectorColumn]
  private val columns = output.map(VectorValues.of(_, column)).toArray
  private lazy val isTaken = Predicate.create(condition.get, input)
  private var vectors: ColumnarBatch = _
  private var all = Array.emptyIntArray

  private val checks: Option[VectorChecks] = VectorChecks.of(condition, column)

  private def column(a: Attribute): VectorColumn = {
    val ordinal = input.indexWhere(_.exprId == a.exprId)
    known.getOrElseUpdate(ordinal, new VectorColumn(a.dataType, ordinal))
  }

  override protected def nextBatch(): RowBatch = {
    if (vectors != null) vectors.closeIfFreeable()
    vectors = if (batches.hasNext) batches.next() else null
    if (vectors == null) null
    else {
      known.values.foreach(_.forget())
      val rows = taken()
      numBatches.add(1)
      numRows.add(rows.length)
      read(rows)
    }
  }

  /** The numbers of the rows that satisfy the condition. */
  private def taken(): Array[Int] = {
    if (all.length != vectors.numRows) all = Array.range(0, vectors.numRows)
    checks match {
      case Some(some) => some.taken(vectors, all)
      case None => VectorChecks.kept(all, i => isTaken.eval(vectors.getRow(i)))
    }
  }

  private def read(rows: Array[Int]): RowBatch = {
    val words = columns.map(_.words(vectors, rows))
    val nulls = columns.map(_.nullsIfAny(vectors, rows))
    new RowBatch(rows.length, words, nulls, columns.map(_.texts(vectors, rows)))
  }
}

/**
 * A condition that is evaluated column by column.
 *
 * @param notNull columns that must not be NULL
 * @param ordered pairs of columns whose first value must be less than the second, such as the
 *   starts and ends of periods
 */
private final class VectorChecks(
    notNull: Seq[VectorColumn],
    ordered: Seq[(VectorOperand, VectorOperand)]) {

  /** The rows of a batch that satisfy the condition. `all` are the numbers of its rows. */
  def taken(batch: ColumnarBatch, all: Array[Int]): Array[Int] = {
    val whole = notNull.map(_.vector(batch)).filter(_.hasNull).foldLeft(all) { (rows, vector) =>
      VectorChecks.kept(rows, !vector.isNullAt(_))
    }
    ordered.foldLeft(whole) { case (rows, (low, high)) =>
      val (lower, upper) = (low.words(batch, all), high.words(batch, all))
      VectorChecks.kept(rows, i => lower(i) < upper(i))
    }
  }
}

private object VectorChecks extends PredicateHelper {

  /** None if the condition has conjuncts of another kind. */
  def of(condition: Option[Expression], column: Attribute => VectorColumn): Option[VectorChecks] = {
    def operand(e: Expression): Option[VectorOperand] = e match {
      case a: Attribute if VectorValues.isNumber(a) => Some(new VectorOperand(column(a), None))
      case period @ PeriodEndpoint(a: Attribute, _) if VectorValues.computes(period) =>
        Some(new VectorOperand(column(a), Some(period)))
      case _ => None
    }
    val conjuncts = condition.toSeq.flatMap(splitConjunctivePredicates)
    val notNull = conjuncts.collect { case IsNotNull(a: Attribute) => column(a) }
    val ordered = for {
      LessThan(low, high) <- conjuncts
      operands <- operand(low).zip(operand(high))
    } yield operands
    // A comparison is true only if neither of its columns is NULL.
    val compared = ordered.flatMap { case (a, b) => Seq(a, b) }.filter(_.isNullable).map(_.column)
    Option.when(notNull.size + ordered.size == conjuncts.size)(
      new VectorChecks((notNull ++ compared).distinct, ordered))
  }

  /** The rows that `isKept` accepts; the same array if it accepts all. */
  def kept(rows: Array[Int], isKept: Int => Boolean): Array[Int] = {
    val kept = new Array[Int](rows.length)
    var n = 0
    var i = 0
    while (i < rows.length) {
      if (isKept(rows(i))) { kept(n) = rows(i); n += 1 }
      i += 1
    }
    if (n == rows.length) rows else kept.take(n)
  }
}
