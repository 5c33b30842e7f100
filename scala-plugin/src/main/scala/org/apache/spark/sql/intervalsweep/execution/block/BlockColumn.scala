// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.Arrays

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.catalyst.util.{SQLOrderingUtil, TypeUtils}
import org.apache.spark.sql.intervalsweep.execution.packing.{Permutation, RowBatch}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * One column of a [[RowBlock]]. Values are in a primitive array if their type has one: a loop over
 * `long[]` emits several times as many pairs a second as a loop over rows (see
 * docs/decisions/0004-columns-in-the-inner-loop.md).
 *
 * Index `i` is the i-th row of the block. The arrays are public because generated code reads them.
 */
sealed abstract class BlockColumn(val dataType: DataType) {
  var nulls: Array[Boolean] = Array.emptyBooleanArray
  private var hasNulls = false

  /** Bytes per row in this column, without values of variable length. */
  def bytesPerRow: Int

  /** Makes room for `capacity` rows and keeps the existing ones. */
  final def grow(capacity: Int): Unit = {
    nulls = Arrays.copyOf(nulls, capacity)
    growValues(capacity)
  }

  /** Sets row `i` from a field of `row`. Rows are set in ascending order. */
  final def set(i: Int, row: InternalRow, ordinal: Int): Unit =
    if (row.isNullAt(ordinal)) setNull(i) else { nulls(i) = false; setValue(i, row, ordinal) }

  final def setNull(i: Int): Unit = {
    nulls(i) = true
    hasNulls = true
  }

  /** Sets row `i` of a BIGINT column. */
  def setLong(i: Int, value: Long): Unit = throw unlike("BIGINT")

  /** Sets row `i` of a DOUBLE column. */
  def setDouble(i: Int, value: Double): Unit = throw unlike("DOUBLE")

  /** Sets row `i` to row `j` of a column of the same type. */
  final def copy(i: Int, from: BlockColumn, j: Int): Unit = {
    nulls(i) = from.nulls(j)
    if (!nulls(i)) copyValue(i, from, j)
  }

  /** Sets the rows from `i` on to the first `n` rows of a column of the same type. */
  final def copyAll(i: Int, from: BlockColumn, n: Int): Unit = {
    System.arraycopy(from.nulls, 0, nulls, i, n)
    System.arraycopy(from.array, 0, array, i, n)
    hasNulls ||= from.hasNulls
  }

  /** Sets the rows from `i` on to the `n` rows of a batch that start at its row `first`. */
  final def setAll(i: Int, batch: RowBatch, ordinal: Int, first: Int, n: Int): Unit = {
    val flags = batch.nulls(ordinal)
    if (flags == null) Arrays.fill(nulls, i, i + n, false)
    else {
      System.arraycopy(flags, first, nulls, i, n)
      hasNulls = true
    }
    if (batch.texts(ordinal) != null) setTexts(i, batch.texts(ordinal), first, n)
    else setWords(i, batch.words(ordinal), first, n)
  }

  /** Removes the `n` rows, and releases the objects that are their values. */
  final def clear(n: Int): Unit = {
    hasNulls = false
    releaseValues(n)
  }

  /** Reorders the rows: row `i` was row `order(i)`. */
  final def permute(order: Array[Int], n: Int): Unit = {
    if (hasNulls) nulls = BlockColumn.permuted(nulls, order, n)
    permuteValues(order, n)
  }

  /** `nulls`, or null if no row is NULL: most nullable columns have no NULLs. */
  final def nullsIfAny: Array[Boolean] = if (hasNulls) nulls else null

  /** The value of row `i`, boxed as Catalyst boxes it; `null` for NULL. For interpreted plans. */
  final def boxed(i: Int): Any = if (nulls(i)) null else boxedValue(i)

  /** The value of row `i` of an integral column. */
  def long(i: Int): Long = throw unlike("BIGINT")

  /**
   * The values of the first `n` rows of an integral column, 0 for NULL. The array may be longer.
   */
  final def longs(n: Int): Array[Long] = this match {
    case longs: LongColumn if !hasNulls => longs.values
    case _ =>
      val result = new Array[Long](n)
      var i = 0
      while (i < n) {
        if (!nulls(i)) result(i) = long(i)
        i += 1
      }
      result
  }

  /** Compares two non-NULL values in Spark's order. */
  def compare(i: Int, j: Int): Int

  // The part that depends on the type of the array. Each subclass has an array `values` of its own
  // type, so that no loop tests the type of the array.

  /** The array of values, whatever its type. */
  protected def array: AnyRef
  protected def growValues(capacity: Int): Unit
  protected def permuteValues(order: Array[Int], n: Int): Unit
  protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit
  protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit
  protected def boxedValue(i: Int): Any

  /** Sets the rows from `i` on to the `n` words of a field that start at `first`. */
  protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit

  /** Same for a text field. */
  protected def setTexts(i: Int, texts: Array[UTF8String], first: Int, n: Int): Unit =
    throw unlike("a text")

  /** Values of a fixed size need no release: later rows overwrite them. */
  protected def releaseValues(n: Int): Unit = ()

  protected def unlike(other: String): Throwable =
    SparkException.internalError(s"IntervalSweepJoin: ${dataType.sql} is read as $other")
}

/** BOOLEAN, TINYINT, SMALLINT, INT, DATE and year-month intervals. */
final class IntColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Int] = Array.emptyIntArray

  /** Bytes of a value in a row; 0 for a Boolean. Stored as a number because every row reads it. */
  private val width = dataType match {
    case BooleanType => 0
    case ByteType => 1
    case ShortType => 2
    case _ => 4
  }

  override def bytesPerRow: Int = 5
  override def long(i: Int): Long = values(i).toLong
  override def compare(i: Int, j: Int): Int = Integer.compare(values(i), values(j))

  override protected def array: AnyRef = values
  override protected def growValues(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
  override protected def permuteValues(order: Array[Int], n: Int): Unit =
    values = Permutation.permuted(values, order, n)
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[IntColumn].values(j)
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = width match {
      case 4 => row.getInt(ordinal)
      case 2 => row.getShort(ordinal).toInt
      case 1 => row.getByte(ordinal).toInt
      case _ => if (row.getBoolean(ordinal)) 1 else 0
    }
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit = {
    val shift = RowBatch.shift(dataType)
    var k = 0
    while (k < n) { values(i + k) = fromWord(words(first + k) >> shift); k += 1 }
  }
  private def fromWord(word: Long): Int = width match {
    case 4 => word.toInt
    case 2 => word.toShort.toInt
    case 1 => word.toByte.toInt
    case _ => if (word.toByte != 0) 1 else 0
  }
  override protected def boxedValue(i: Int): Any = width match {
    case 4 => values(i)
    case 2 => values(i).toShort
    case 1 => values(i).toByte
    case _ => values(i) != 0
  }
}

/** BIGINT, TIMESTAMP, TIMESTAMP_NTZ and day-time intervals. */
final class LongColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Long] = Array.emptyLongArray

  override def bytesPerRow: Int = 9
  override def long(i: Int): Long = values(i)
  override def setLong(i: Int, value: Long): Unit = {
    nulls(i) = false
    values(i) = value
  }
  override def compare(i: Int, j: Int): Int = java.lang.Long.compare(values(i), values(j))

  override protected def array: AnyRef = values
  override protected def growValues(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
  override protected def permuteValues(order: Array[Int], n: Int): Unit =
    values = Permutation.permuted(values, order, n)
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[LongColumn].values(j)
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = row.getLong(ordinal)
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit =
    System.arraycopy(words, first, values, i, n)
  override protected def boxedValue(i: Int): Any = values(i)
}

/** FLOAT and DOUBLE. A float that is widened to double and back is the same float. */
final class DoubleColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Double] = Array.emptyDoubleArray
  private val isFloat = dataType == FloatType

  override def bytesPerRow: Int = 9
  override def setDouble(i: Int, value: Double): Unit = {
    nulls(i) = false
    values(i) = value
  }
  override def compare(i: Int, j: Int): Int =
    SQLOrderingUtil.compareDoubles(values(i), values(j))

  override protected def array: AnyRef = values
  override protected def growValues(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
  override protected def permuteValues(order: Array[Int], n: Int): Unit =
    values = BlockColumn.permuted(values, order, n)
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[DoubleColumn].values(j)
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = if (isFloat) row.getFloat(ordinal).toDouble else row.getDouble(ordinal)
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit = {
    val shift = RowBatch.shift(dataType)
    var k = 0
    while (k < n) { values(i + k) = fromWord(words(first + k) >> shift); k += 1 }
  }
  private def fromWord(word: Long): Double =
    if (isFloat) java.lang.Float.intBitsToFloat(word.toInt).toDouble
    else java.lang.Double.longBitsToDouble(word)
  override protected def boxedValue(i: Int): Any = if (isFloat) values(i).toFloat else values(i)
}

/**
 * Every other type, as the objects by which Catalyst passes its values: strings, decimals, nested
 * values, and any type that Spark may add.
 */
final class ObjectColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[AnyRef] = Array.empty
  private lazy val ordering = TypeUtils.getInterpretedOrdering(dataType)

  override def bytesPerRow: Int = ObjectColumn.BytesPerObject
  override def compare(i: Int, j: Int): Int = ordering.compare(values(i), values(j))

  override protected def array: AnyRef = values
  override protected def growValues(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
  override protected def permuteValues(order: Array[Int], n: Int): Unit =
    values = BlockColumn.permuted(values, order, n)
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[ObjectColumn].values(j)

  /** Copies the value, since the producer reuses the row. */
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = InternalRow.copyValue(row.get(ordinal, dataType)).asInstanceOf[AnyRef]
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit =
    throw unlike("a number")
  override protected def setTexts(i: Int, texts: Array[UTF8String], first: Int, n: Int): Unit =
    System.arraycopy(texts, first, values, i, n)
  override protected def releaseValues(n: Int): Unit = Arrays.fill(values, 0, n, null)
  override protected def boxedValue(i: Int): Any = values(i)
}

object ObjectColumn {

  /** A reference, the NULL flag, and the headers of a small object and of its bytes. */
  private val BytesPerObject = 53
}

object BlockColumn {

  /** An empty column for values of `dataType`. */
  def apply(dataType: DataType): BlockColumn = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | DateType |
        _: YearMonthIntervalType =>
      new IntColumn(dataType)
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      new LongColumn(dataType)
    case FloatType | DoubleType => new DoubleColumn(dataType)
    case _ => new ObjectColumn(dataType)
  }

  /** Java source of the non-NULL value at `index` of the array `values`. */
  def read(dataType: DataType, values: String, index: String): String = dataType match {
    case BooleanType => s"$values[$index] != 0"
    case ByteType => s"(byte) $values[$index]"
    case ShortType => s"(short) $values[$index]"
    case FloatType => s"(float) $values[$index]"
    case _ if arrayType(dataType) == "Object[]" =>
      s"(${CodeGenerator.boxedType(dataType)}) $values[$index]"
    case _ => s"$values[$index]"
  }

  /** The Java type of the column's value array. */
  def arrayType(dataType: DataType): String = apply(dataType) match {
    case _: IntColumn => "int[]"
    case _: LongColumn => "long[]"
    case _: DoubleColumn => "double[]"
    case _: ObjectColumn => "Object[]"
  }

  /** The Java class of the column. */
  def javaClass(dataType: DataType): String = apply(dataType).getClass.getName

  // Like Permutation, for the other types of values. One loop for all types would test the type of
  // the array at each value.

  private def permuted(values: Array[Boolean], order: Array[Int], n: Int): Array[Boolean] = {
    val result = new Array[Boolean](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }

  private[block] def permuted(values: Array[Double], order: Array[Int], n: Int): Array[Double] = {
    val result = new Array[Double](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }

  private[block] def permuted(values: Array[AnyRef], order: Array[Int], n: Int): Array[AnyRef] = {
    val result = new Array[AnyRef](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }
}
