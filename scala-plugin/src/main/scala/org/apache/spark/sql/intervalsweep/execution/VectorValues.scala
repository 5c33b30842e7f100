// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.lang.Double.doubleToRawLongBits
import java.lang.Float.floatToRawIntBits
import java.util.Arrays

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, BitwiseAnd, Cast, Coalesce, Expression, If, IsNotNull, Literal, ShiftRight
}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.execution.packing.{Permutation, RowBatch}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}
import org.apache.spark.unsafe.types.UTF8String

/** Values of some rows of columnar batches, in the form of a [[RowBatch]]. */
private sealed trait VectorValues {

  /** The words of the rows. The array may be longer than `rows`, and is not to be changed. */
  def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long]

  /** Null if none of `rows` is NULL. */
  def nullsIfAny(batch: ColumnarBatch, rows: Array[Int]): Array[Boolean] = null
  def texts(batch: ColumnarBatch, rows: Array[Int]): Array[UTF8String] = null
}

private object VectorValues {

  /** True if the order of the values is the order of their words. */
  def isNumber(column: Attribute): Boolean = column.dataType match {
    case LongType | IntegerType | DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  /**
   * True for an end of a period, and for the numbers that are added up for counts and sums of a
   * column. They are never NULL.
   */
  def computes(e: Expression): Boolean = e match {
    case Literal(number, LongType | IntegerType) => number != null
    case PeriodEndpoint(a: Attribute, _) => isNumber(a) && RowBatch.isLittleEndian
    case If(IsNotNull(_: Attribute), yes: Literal, no: Literal) => computes(yes) && computes(no)
    case Coalesce(Seq(Whole(_), ofNull: Literal)) => computes(ofNull)
    case ShiftRight(number, bits: Literal) =>
      number.dataType == LongType && isComputed(number) && computes(bits)
    case BitwiseAnd(number, mask: Literal) => isComputed(number) && computes(mask)
    case _ => false
  }

  private def isComputed(e: Expression): Boolean = e match {
    case Whole(a) => !a.nullable
    case _ => computes(e)
  }

  /** The values of an expression that is a column or that is computed. */
  def of(e: Expression, column: Attribute => VectorColumn): VectorValues = e match {
    case a: Attribute => column(a)
    case Whole(a) => column(a)
    case Literal(number: Number, dataType) =>
      new VectorConstant(number.longValue << RowBatch.shift(dataType))
    case period @ PeriodEndpoint(a: Attribute, _) => new VectorOperand(column(a), Some(period))
    case If(IsNotNull(a: Attribute), yes, Literal(no: Number, _)) =>
      new VectorWhereNull(of(yes, column), column(a), no.longValue << RowBatch.shift(e.dataType))
    case Coalesce(Seq(Whole(a), Literal(ofNull: Number, _))) =>
      new VectorWhereNull(column(a), column(a), ofNull.longValue)
    case ShiftRight(number, Literal(bits: Number, _)) =>
      new VectorMapped(of(number, column), _ >> bits.intValue)
    case BitwiseAnd(number, Literal(mask: Number, _)) =>
      new VectorMapped(of(number, column), _ & mask.longValue)
    case _ => throw SparkException.internalError(s"VectorRows cannot read ${e.sql}")
  }

  /** A column of whole numbers, as LONGs. */
  private object Whole {
    def unapply(e: Expression): Option[Attribute] = e match {
      case a: Attribute if a.dataType == LongType => Some(a)
      case Cast(a: Attribute, LongType, _, _) if RowBatch.isLittleEndian =>
        a.dataType match {
          case IntegerType | ShortType | ByteType => Some(a)
          case _ => None
        }
      case _ => None
    }
  }
}

/** The words of other values, and `ofNull` where a column is NULL. */
private final class VectorWhereNull(values: VectorValues, column: VectorColumn, ofNull: Long)
    extends VectorValues {

  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] = {
    val (words, vector) = (values.words(batch, rows), column.vector(batch))
    if (!vector.hasNull) words
    else {
      val known = new Array[Long](rows.length)
      var i = 0
      while (i < rows.length) {
        known(i) = if (vector.isNullAt(rows(i))) ofNull else words(i)
        i += 1
      }
      known
    }
  }
}

/** Words that are computed from those of other values, one by one. */
private final class VectorMapped(values: VectorValues, word: Long => Long) extends VectorValues {

  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] = {
    val words = values.words(batch, rows)
    val mapped = new Array[Long](rows.length)
    var i = 0
    while (i < rows.length) { mapped(i) = word(words(i)); i += 1 }
    mapped
  }
}

/** The same number for all rows. */
private final class VectorConstant(word: Long) extends VectorValues {
  private var filled = Array.emptyLongArray

  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] = {
    if (filled.length < rows.length) {
      filled = new Array[Long](rows.length)
      Arrays.fill(filled, word)
    }
    filled
  }
}

/** A column of numbers, or an end of a period that is one; see [[PeriodEndpoint]]. */
private final class VectorOperand(val column: VectorColumn, period: Option[PeriodEndpoint])
    extends VectorValues {
  private val values = period.fold[VectorValues](column) { end =>
    val largest = end.largest
    val known = new VectorWhereNull(column, column, end.unbounded)
    if (largest == Long.MaxValue) known
    else new VectorMapped(known, word => if (word == largest) Long.MaxValue else word)
  }

  /** True if a comparison with NULL is not true. */
  def isNullable: Boolean = period.isEmpty

  override def words(batch: ColumnarBatch, rows: Array[Int]): Array[Long] =
    values.words(batch, rows)
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
