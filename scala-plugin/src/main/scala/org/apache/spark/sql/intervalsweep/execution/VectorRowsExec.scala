// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.lang.Double.doubleToRawLongBits
import java.lang.Float.floatToRawIntBits

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, IsNotNull, Predicate, PredicateHelper, SortOrder
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{ColumnarToRowTransition, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The rows of a columnar plan, filtered, in batches: an IntervalSweepJoin takes rows apart into
 * columns, so that no rows need be made of the columns.
 *
 * @param condition what the rows have to fulfil, over the columns of `child`
 * @param output some columns of `child`, all of types that [[RowBatch.takes]]
 */
case class VectorRowsExec(
    condition: Option[Expression],
    override val output: Seq[Attribute],
    child: SparkPlan)
    extends ColumnarToRowTransition {
  override def nodeName: String = "VectorRows"
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputBatches" -> SQLMetrics.createMetric(sparkContext, "number of input batches"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (columns, input, filter) = (output, child.output, condition)
    val (batches, rows) = (longMetric("numInputBatches"), longMetric("numOutputRows"))
    child.executeColumnar().mapPartitionsInternal { partition =>
      new VectorRows(partition, columns, input, filter, batches, rows)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): VectorRowsExec =
    copy(child = newChild)
}

private final class VectorRows(
    batches: Iterator[ColumnarBatch],
    output: Seq[Attribute],
    input: Seq[Attribute],
    condition: Option[Expression],
    numBatches: SQLMetric,
    numRows: SQLMetric)
    extends BatchedRows(output.map(_.dataType).toArray) with PredicateHelper {
  private val columns = output.map(a => new VectorColumn(a.dataType, find(a))).toArray
  private val isTaken = condition.map(Predicate.create(_, input)).orNull
  private var vectors: ColumnarBatch = _

  /** The columns of which a condition says that they are not NULL, and no more. */
  private val notNull: Option[Seq[Int]] = {
    val conjuncts = condition.toSeq.flatMap(splitConjunctivePredicates)
    val ordinals = conjuncts.collect { case IsNotNull(a: Attribute) => find(a) }
    Option.when(ordinals.size == conjuncts.size)(ordinals)
  }

  private def find(column: Attribute): Int = input.indexWhere(_.exprId == column.exprId)

  override protected def nextBatch(): RowBatch = {
    if (vectors != null) vectors.closeIfFreeable()
    vectors = if (batches.hasNext) batches.next() else null
    if (vectors == null) null
    else {
      val rows = filtered(read())
      numBatches.add(1)
      numRows.add(rows.numRows)
      rows
    }
  }

  private def read(): RowBatch = {
    val (words, nulls) = (columns.map(_.words(vectors)), columns.map(_.nullsIfAny(vectors)))
    new RowBatch(vectors.numRows, words, nulls, columns.map(_.texts(vectors)))
  }

  private def filtered(rows: RowBatch): RowBatch =
    if (notNull.exists(_.forall(!vectors.column(_).hasNull))) rows
    else {
      val taken = new Array[Int](rows.numRows)
      var n = 0
      var i = 0
      while (i < rows.numRows) {
        if (isTaken.eval(vectors.getRow(i))) { taken(n) = i; n += 1 }
        i += 1
      }
      if (n == rows.numRows) rows else rows.select(taken.take(n))
    }
}

/** A column of columnar batches, as a [[RowBatch]] has it. */
private final class VectorColumn(dataType: DataType, ordinal: Int) {
  import VectorColumn.Slots

  private val shift = RowBatch.shift(dataType)

  def nullsIfAny(batch: ColumnarBatch): Array[Boolean] = {
    val vector = batch.column(ordinal)
    if (!vector.hasNull) null
    else {
      val nulls = new Array[Boolean](batch.numRows)
      var i = 0
      while (i < nulls.length) { nulls(i) = vector.isNullAt(i); i += 1 }
      nulls
    }
  }

  def words(batch: ColumnarBatch): Array[Long] = {
    val (vector, n) = (batch.column(ordinal), batch.numRows)
    dataType match {
      case _: StringType => null
      case BooleanType => words(vector, n)(i => if (vector.getBoolean(i)) 1L else 0L)
      case ByteType => words(vector, n)(vector.getByte(_).toLong)
      case ShortType => words(vector, n)(vector.getShort(_).toLong)
      case FloatType => words(vector, n)(i => floatToRawIntBits(vector.getFloat(i)).toLong)
      case DoubleType => words(vector, n)(i => doubleToRawLongBits(vector.getDouble(i)))
      case _ if dataType.defaultSize == 4 => words(vector, n)(vector.getInt(_).toLong)
      case _ if isCoded(vector) => words(vector, n)(vector.getLong(_))
      case _ => vector.getLongs(0, n)
    }
  }

  def texts(batch: ColumnarBatch): Array[UTF8String] =
    if (!RowBatch.isText(dataType)) null
    else batch.column(ordinal) match {
      case vector: WritableColumnVector if vector.hasDictionary => decoded(vector, batch.numRows)
      case vector => texts(vector, batch.numRows)(vector.getUTF8String(_).copy())
    }

  /** A text of a dictionary is made for the first row that has it, and shared by the others. */
  private def decoded(vector: WritableColumnVector, n: Int): Array[UTF8String] = {
    val codes = vector.getDictionaryIds
    val (knownCodes, known) = (new Array[Int](Slots), new Array[UTF8String](Slots))
    texts(vector, n) { i =>
      val code = codes.getDictId(i)
      val slot = code & (Slots - 1)
      if (known(slot) == null || knownCodes(slot) != code) {
        knownCodes(slot) = code
        known(slot) = vector.getUTF8String(i)
      }
      known(slot)
    }
  }

  private def texts(vector: ColumnVector, n: Int)(value: Int => UTF8String): Array[UTF8String] = {
    val (texts, hasNull) = (new Array[UTF8String](n), vector.hasNull)
    var i = 0
    while (i < n) {
      if (!hasNull || !vector.isNullAt(i)) texts(i) = value(i)
      i += 1
    }
    texts
  }

  /** Whether values have to be looked up in a dictionary: not many at once, and none of a NULL. */
  private def isCoded(vector: ColumnVector): Boolean = vector match {
    case writable: WritableColumnVector => writable.hasDictionary
    case _ => false
  }

  private def words(vector: ColumnVector, n: Int)(value: Int => Long): Array[Long] = {
    val (words, hasNull) = (new Array[Long](n), vector.hasNull)
    var i = 0
    while (i < n) {
      if (!hasNull || !vector.isNullAt(i)) words(i) = value(i) << shift
      i += 1
    }
    words
  }
}

private object VectorColumn {

  /** For texts of a dictionary that are known: a power of two, and few next to the rows of a batch. */
  private val Slots = 1024
}
