// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.lang.Double.doubleToRawLongBits
import java.lang.Float.floatToRawIntBits

import scala.collection.mutable

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, Expression, IsNotNull, LessThan, Literal, NamedExpression, Predicate,
  PredicateHelper,
  SortOrder
}
import org.apache.spark.sql.execution.{
  ColumnarToRowTransition, OrderPreservingUnaryExecNode, PartitioningPreservingUnaryExecNode,
  SparkPlan
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.execution.packing.{BatchedRows, Permutation, RowBatch}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}
import org.apache.spark.unsafe.types.UTF8String

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
    with OrderPreservingUnaryExecNode {
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

  /** True for a column, perhaps with another name, an end of a period, and a whole number. */
  def reads(value: NamedExpression): Boolean = value match {
    case _: Attribute | Alias(_: Attribute, _) => true
    case Alias(PeriodEndpoint(a: Attribute, _), _) => isNumber(a) && RowBatch.isLittleEndian
    case Alias(Literal(number, LongType | IntegerType), _) => number != null
    case _ => false
  }

  /** True if the order of the values is the order of their words. */
  private[execution] def isNumber(column: Attribute): Boolean = column.dataType match {
    case LongType | IntegerType | DateType | TimestampType | TimestampNTZType => true
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
  private val columns = output.map(values).toArray
  private lazy val isTaken = Predicate.create(condition.get, input)
  private var vectors: ColumnarBatch = _
  private var all = Array.emptyIntArray

  private val checks: Option[VectorChecks] = VectorChecks.of(condition, column)

  private def values(e: Expression): VectorValues = e match {
    case a: Attribute => column(a)
    case period @ PeriodEndpoint(a: Attribute, _) => new VectorOperand(column(a), Some(period))
    case Literal(number: Number, dataType) =>
      new VectorConstant(number.longValue << RowBatch.shift(dataType))
    case _ => throw SparkException.internalError(s"VectorRows cannot read ${e.sql}")
  }

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

/** Values of some rows of columnar batches, in the form of a [[RowBatch]]. */
private sealed trait VectorValues {
  def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long]

  /** Null if none of `rows` is NULL. */
  def nullsIfAny(batch: ColumnarBatch, rows: Array[Int]): Array[Boolean] = null
  def texts(batch: ColumnarBatch, rows: Array[Int]): Array[UTF8String] = null
}

/** The same number for all rows. */
private final class VectorConstant(word: Long) extends VectorValues {
  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] =
    Array.fill(rows.length)(word)
}

/** A column of numbers, or an end of a period that is one; see [[PeriodEndpoint]]. */
private final class VectorOperand(val column: VectorColumn, period: Option[PeriodEndpoint])
    extends VectorValues {
  private val ofNull = period.fold(0L)(_.unbounded)
  private val largest = period.fold(Long.MaxValue)(_.largest)

  /** True if a comparison with NULL is not true. */
  def isNullable: Boolean = period.isEmpty

  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] = {
    val words = column.words(batch, rows)
    val vector = column.vector(batch)
    if (isNullable || !vector.hasNull && largest == Long.MaxValue) words
    else bounded(words, vector, rows)
  }

  private def bounded(
      words: Array[Long],
      vector: ColumnVector,
      rows: Array[Int]): Array[Long] = {
    val bounded = new Array[Long](words.length)
    var i = 0
    while (i < words.length) {
      bounded(i) =
        if (vector.isNullAt(rows(i))) ofNull
        else if (words(i) == largest) Long.MaxValue
        else words(i)
      i += 1
    }
    bounded
  }
}

private object VectorChecks extends PredicateHelper {

  /** None if the condition has conjuncts of another kind. */
  def of(condition: Option[Expression], column: Attribute => VectorColumn): Option[VectorChecks] = {
    def operand(e: Expression): Option[VectorOperand] = e match {
      case a: Attribute if VectorRowsExec.isNumber(a) => Some(new VectorOperand(column(a), None))
      case period @ PeriodEndpoint(a: Attribute, _)
          if VectorRowsExec.isNumber(a) && RowBatch.isLittleEndian =>
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

/**
 * A column of columnar batches. It returns the values of some rows in the form of a [[RowBatch]].
 */
private final class VectorColumn(dataType: DataType, ordinal: Int) extends VectorValues {
  import VectorColumn.Slots

  private val shift = RowBatch.shift(dataType)

  /** The words of all rows of the current batch, once they were read; null before. */
  private var ofAll: Array[Long] = _

  def vector(batch: ColumnarBatch): ColumnVector = batch.column(ordinal)

  /** Call it before the next batch. */
  def forget(): Unit = ofAll = null

  /** Null if none of `rows` is NULL: the filter may have dropped the NULL rows. */
  override def nullsIfAny(batch: ColumnarBatch, rows: Array[Int]): Array[Boolean] = {
    val vector = batch.column(ordinal)
    if (!vector.hasNull) null
    else {
      val nulls = new Array[Boolean](rows.length)
      var any = false
      var i = 0
      while (i < nulls.length) { nulls(i) = vector.isNullAt(rows(i)); any |= nulls(i); i += 1 }
      if (any) nulls else null
    }
  }

  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] = {
    val areAll = rows.length == batch.numRows
    if (ofAll == null) {
      val words = read(batch, rows)
      if (areAll) ofAll = words
      words
    } else if (areAll) ofAll
    else Permutation.permuted(ofAll, rows, rows.length)
  }

  private def read(batch: ColumnarBatch, rows: Array[Int]): Array[Long] = {
    val vector = batch.column(ordinal)
    dataType match {
      case _: StringType => null
      case BooleanType => words(vector, rows)(i => if (vector.getBoolean(i)) 1L else 0L)
      case ByteType => words(vector, rows)(vector.getByte(_).toLong)
      case ShortType => words(vector, rows)(vector.getShort(_).toLong)
      case FloatType => words(vector, rows)(i => floatToRawIntBits(vector.getFloat(i)).toLong)
      case DoubleType => words(vector, rows)(i => doubleToRawLongBits(vector.getDouble(i)))
      case _ if dataType.defaultSize == 4 => words(vector, rows)(vector.getInt(_).toLong)
      case _ if rows.length == batch.numRows && hasPlainWords(vector) =>
        vector.getLongs(0, rows.length)
      case _ => words(vector, rows)(vector.getLong(_))
    }
  }

  override def texts(batch: ColumnarBatch, rows: Array[Int]): Array[UTF8String] =
    if (!RowBatch.isText(dataType)) null
    else batch.column(ordinal) match {
      case vector: WritableColumnVector if vector.hasDictionary => decoded(vector, rows)
      case vector => texts(vector, rows)(vector.getUTF8String(_).copy())
    }

  /**
   * Decodes a text of a dictionary for the first row that has it. Later rows share it, unless
   * another text has taken its place in the small cache.
   */
  private def decoded(vector: WritableColumnVector, rows: Array[Int]): Array[UTF8String] = {
    val codes = vector.getDictionaryIds
    val (knownCodes, known) = (new Array[Int](Slots), new Array[UTF8String](Slots))
    texts(vector, rows) { row =>
      val code = codes.getDictId(row)
      val slot = code & (Slots - 1)
      if (known(slot) == null || knownCodes(slot) != code) {
        knownCodes(slot) = code
        known(slot) = vector.getUTF8String(row)
      }
      known(slot)
    }
  }

  private def texts(
      vector: ColumnVector,
      rows: Array[Int])(value: Int => UTF8String): Array[UTF8String] = {
    val (texts, hasNull) = (new Array[UTF8String](rows.length), vector.hasNull)
    var i = 0
    while (i < rows.length) {
      if (!hasNull || !vector.isNullAt(rows(i))) texts(i) = value(rows(i))
      i += 1
    }
    texts
  }

  /**
   * True if many values can be read at once. Spark's own vectors return an arbitrary value for
   * NULL. A dictionary, and vectors of other libraries such as Arrow, have no value to return for
   * NULL.
   */
  private def hasPlainWords(vector: ColumnVector): Boolean = vector match {
    case writable: WritableColumnVector => !writable.hasDictionary
    case _ => !vector.hasNull
  }

  private def words(vector: ColumnVector, rows: Array[Int])(value: Int => Long): Array[Long] = {
    val (words, hasNull) = (new Array[Long](rows.length), vector.hasNull)
    var i = 0
    while (i < rows.length) {
      if (!hasNull || !vector.isNullAt(rows(i))) words(i) = value(rows(i)) << shift
      i += 1
    }
    words
  }
}

private object VectorColumn {

  /**
   * Size of the cache of decoded texts: a power of two, and small compared with the rows of a
   * batch.
   */
  private val Slots = 1024
}
