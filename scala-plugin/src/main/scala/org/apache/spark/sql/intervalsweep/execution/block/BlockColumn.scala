// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

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
  def grow(capacity: Int): Unit = nulls = java.util.Arrays.copyOf(nulls, capacity)

  /** Sets row `i` from a field of `row`. Rows are set in ascending order. */
  final def set(i: Int, row: InternalRow, ordinal: Int): Unit =
    if (row.isNullAt(ordinal)) setNull(i) else { nulls(i) = false; setValue(i, row, ordinal) }

  final def setNull(i: Int): Unit = {
    nulls(i) = true
    hasNulls = true
  }
  protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit

  /** `nulls`, or null if no row is NULL: most nullable columns have no NULLs. */
  final def nullsIfAny: Array[Boolean] = if (hasNulls) nulls else null

  /** Removes the `n` rows, and releases the objects that are their values. */
  final def clear(n: Int): Unit = {
    hasNulls = false
    forget(n)
  }

  /** Releases the values. Values of a fixed size need no release: later rows overwrite them. */
  protected def forget(n: Int): Unit = ()

  /** Reorders the rows: row `i` was row `order(i)`. */
  def permute(order: Array[Int], n: Int): Unit = if (hasNulls) {
    val old = nulls
    nulls = new Array[Boolean](old.length)
    var i = 0
    while (i < n) { nulls(i) = old(order(i)); i += 1 }
  }

  /** The value of row `i`, boxed as Catalyst boxes it; `null` for NULL. For interpreted plans. */
  final def boxed(i: Int): Any = if (nulls(i)) null else boxedValue(i)
  protected def boxedValue(i: Int): Any

  /** Compares two non-NULL values in Spark's order. */
  def compare(i: Int, j: Int): Int

  /** Sets row `i` to row `j` of a column of the same type. */
  final def copy(i: Int, from: BlockColumn, j: Int): Unit = {
    nulls(i) = from.nulls(j)
    if (!nulls(i)) copyValue(i, from, j)
  }
  protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit

  /** Sets the rows from `i` on to the first `n` rows of a column of the same type. */
  final def copyAll(i: Int, from: BlockColumn, n: Int): Unit = {
    System.arraycopy(from.nulls, 0, nulls, i, n)
    System.arraycopy(from.array, 0, array, i, n)
    hasNulls ||= from.hasNulls
  }

  /** Sets the rows from `i` on to the `n` rows of a batch that start at its row `first`. */
  final def setAll(i: Int, batch: RowBatch, ordinal: Int, first: Int, n: Int): Unit = {
    val flags = batch.nulls(ordinal)
    if (flags == null) java.util.Arrays.fill(nulls, i, i + n, false)
    else {
      System.arraycopy(flags, first, nulls, i, n)
      hasNulls = true
    }
    if (batch.texts(ordinal) != null) setTexts(i, batch.texts(ordinal), first, n)
    else setWords(i, batch.words(ordinal), first, n)
  }

  /** Same for a text field. */
  protected def setTexts(i: Int, texts: Array[UTF8String], first: Int, n: Int): Unit =
    throw unlike("a text")

  /** Same for the words of a field. */
  protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit

  /** The array of values, whatever its type. */
  protected def array: AnyRef

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

  /** Sets row `i` of a BIGINT column. */
  def setLong(i: Int, value: Long): Unit = throw unlike("BIGINT")

  /** Sets row `i` of a DOUBLE column. */
  def setDouble(i: Int, value: Double): Unit = throw unlike("DOUBLE")

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
  override protected def array: AnyRef = values
  override def bytesPerRow: Int = 5
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }
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
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    values = Permutation.permuted(values, order, n)
  }
  override protected def boxedValue(i: Int): Any = width match {
    case 4 => values(i)
    case 2 => values(i).toShort
    case 1 => values(i).toByte
    case _ => values(i) != 0
  }
  override def compare(i: Int, j: Int): Int = Integer.compare(values(i), values(j))
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[IntColumn].values(j)
  override def long(i: Int): Long = values(i).toLong
}

/** BIGINT, TIMESTAMP, TIMESTAMP_NTZ and day-time intervals. */
final class LongColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Long] = Array.emptyLongArray
  override protected def array: AnyRef = values
  override def bytesPerRow: Int = 9
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = row.getLong(ordinal)
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit =
    System.arraycopy(words, first, values, i, n)
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    values = Permutation.permuted(values, order, n)
  }
  override protected def boxedValue(i: Int): Any = values(i)
  override def compare(i: Int, j: Int): Int = java.lang.Long.compare(values(i), values(j))
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[LongColumn].values(j)
  override def long(i: Int): Long = values(i)
  override def setLong(i: Int, value: Long): Unit = {
    nulls(i) = false
    values(i) = value
  }
}

/** FLOAT and DOUBLE. A float that is widened to double and back is the same float. */
final class DoubleColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Double] = Array.emptyDoubleArray
  override protected def array: AnyRef = values
  override def bytesPerRow: Int = 9
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) =
      if (dataType == FloatType) row.getFloat(ordinal).toDouble else row.getDouble(ordinal)
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit = {
    val shift = RowBatch.shift(dataType)
    var k = 0
    while (k < n) { values(i + k) = fromWord(words(first + k) >> shift); k += 1 }
  }
  private def fromWord(word: Long): Double =
    if (dataType == FloatType) java.lang.Float.intBitsToFloat(word.toInt).toDouble
    else java.lang.Double.longBitsToDouble(word)
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    val old = values
    values = new Array[Double](old.length)
    var i = 0
    while (i < n) { values(i) = old(order(i)); i += 1 }
  }
  override protected def boxedValue(i: Int): Any =
    if (dataType == FloatType) values(i).toFloat else values(i)
  override def compare(i: Int, j: Int): Int =
    SQLOrderingUtil.compareDoubles(values(i), values(j))
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[DoubleColumn].values(j)
  override def setDouble(i: Int, value: Double): Unit = {
    nulls(i) = false
    values(i) = value
  }
}

/**
 * Every other type, as the objects by which Catalyst passes its values: strings, decimals, nested
 * values, and any type that Spark may add.
 */
final class ObjectColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[AnyRef] = Array.empty
  override protected def array: AnyRef = values
  override def bytesPerRow: Int = ObjectColumn.BytesPerObject
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }

  /** Copies the value, since the producer reuses the row. */
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = InternalRow.copyValue(row.get(ordinal, dataType)).asInstanceOf[AnyRef]
  override protected def forget(n: Int): Unit = java.util.Arrays.fill(values, 0, n, null)
  override protected def setWords(i: Int, words: Array[Long], first: Int, n: Int): Unit =
    throw unlike("a number")
  override protected def setTexts(i: Int, texts: Array[UTF8String], first: Int, n: Int): Unit =
    System.arraycopy(texts, first, values, i, n)
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    val old = values
    values = new Array[AnyRef](old.length)
    var i = 0
    while (i < n) { values(i) = old(order(i)); i += 1 }
  }
  override protected def boxedValue(i: Int): Any = values(i)

  private lazy val ordering = TypeUtils.getInterpretedOrdering(dataType)
  override def compare(i: Int, j: Int): Int = ordering.compare(values(i), values(j))
  override protected def copyValue(i: Int, from: BlockColumn, j: Int): Unit =
    values(i) = from.asInstanceOf[ObjectColumn].values(j)
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
}
