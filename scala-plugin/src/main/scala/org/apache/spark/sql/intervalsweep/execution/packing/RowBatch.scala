// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.nio.ByteOrder

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BaseGenericInternalRow, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * Rows by column. A field is a 64-bit word, as Spark's own row format (UnsafeRow) stores it, or a
 * text: see [[RowBatch.takes]].
 *
 * {{{
 *   field      ts       te       x        name
 *   row 0      0        10       7        a       words(1)(0) = 10, texts(3)(0) = a
 *   row 1      3        4        NULL     b       nulls(2)(1); the other fields' nulls are null
 * }}}
 *
 * @param words by field, then by row; arbitrary where a field is NULL; null for a text field
 * @param nulls by field, then by row; null for a field that is NULL in no row
 * @param texts by field, then by row; null where a field is NULL, and for a word field. The texts
 *   may be kept, and rows with the same text may share it. The arrays may be longer than the batch.
 */
final class RowBatch(
    val numRows: Int,
    val words: Array[Array[Long]],
    val nulls: Array[Array[Boolean]],
    val texts: Array[Array[UTF8String]]) {

  def isNull(field: Int, row: Int): Boolean = nulls(field) != null && nulls(field)(row)

  val hasTexts: Boolean = texts.exists(_ != null)

  /** The total length of a row's texts in bytes. */
  def textBytes(row: Int): Long = {
    var bytes = 0L
    var k = 0
    while (k < texts.length) {
      if (texts(k) != null && texts(k)(row) != null) bytes += texts(k)(row).numBytes
      k += 1
    }
    bytes
  }

  /**
   * The number of rows from `first` on whose texts reach `bytes` bytes: at least one, perhaps all.
   */
  def rowsOf(bytes: Long, first: Int): Int =
    if (!hasTexts) numRows - first
    else {
      var rest = bytes
      var end = first
      while (end < numRows && rest > 0) { rest -= textBytes(end); end += 1 }
      end - first
    }

  /** A batch with the given fields only, and without the rows before `first`. */
  def narrow(fields: Array[Int], first: Int): RowBatch = {
    val whole = new RowBatch(numRows, fields.map(words), fields.map(nulls), fields.map(texts))
    if (first == 0) whole else whole.select(Array.range(first, numRows))
  }

  /** A batch of the given rows. */
  def select(rows: Array[Int]): RowBatch = new RowBatch(
    rows.length,
    words.map(field =>
      if (field == null) null else Permutation.permuted(field, rows, rows.length)),
    nulls.map(flags => if (flags == null) null else selected(flags, rows)),
    texts.map(field => if (field == null) null else rows.map(field(_))))

  /** Null if no flag of the given rows is set: the selection may have dropped the NULL rows. */
  private def selected(flags: Array[Boolean], rows: Array[Int]): Array[Boolean] = {
    val result = new Array[Boolean](rows.length)
    var any = false
    var i = 0
    while (i < rows.length) { result(i) = flags(rows(i)); any |= result(i); i += 1 }
    if (any) result else null
  }
}

object RowBatch {
  private[execution] val isLittleEndian = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN

  private[execution] val none = new RowBatch(0, Array.empty, Array.empty, Array.empty)

  /** True if a batch can store fields of this type. */
  def takes(dataType: DataType): Boolean = isWord(dataType) || isText(dataType)

  def isText(dataType: DataType): Boolean = dataType.isInstanceOf[StringType]

  /** True if a field of this type is a word of its own. */
  def isWord(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType |
        DateType | TimestampType | TimestampNTZType | _: YearMonthIntervalType |
        _: DayTimeIntervalType => true
    case _ => false
  }

  /** The number of bits between the lower end of a word and the value of this type in it. */
  def shift(dataType: DataType): Int =
    if (isLittleEndian) 0 else 64 - 8 * dataType.defaultSize
}

/** Rows that a consumer takes one by one, or many at once by [[batch]], [[position]] and [[skip]]. */
trait InBatches {

  /** The batch of the next row; null after the last row. */
  def batch: RowBatch

  /** The position of the next row in its batch. */
  def position: Int

  /** Skips rows of the batch, which the consumer has taken at once. */
  def skip(rows: Int): Unit
}

/**
 * Rows that come in batches. A row is valid until the next one is read.
 *
 * @param types the types of the fields
 */
abstract class BatchedRows(types: Array[DataType]) extends Iterator[InternalRow] with InBatches {
  private val row = new BatchRow(types)
  row.batch = RowBatch.none
  private var taken = 0

  /** The next batch; null after the last one. */
  protected def nextBatch(): RowBatch

  override def hasNext: Boolean = batch != null

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    row.at = taken
    taken += 1
    row
  }

  override def batch: RowBatch = {
    while (row.batch != null && taken == row.batch.numRows) {
      row.batch = nextBatch()
      taken = 0
    }
    row.batch
  }

  override def position: Int = taken
  override def skip(rows: Int): Unit = taken += rows
}

/** A node whose rows come as [[BatchedRows]]. */
trait ReturnsBatches

/** Rows in Spark's own format, as batches. */
final class CopiedBatches(rows: Iterator[UnsafeRow], types: Array[DataType])
    extends BatchedRows(types) {
  private val flagBytes = UnsafeRow.calculateBitSetWidthInBytes(types.length)

  override protected def nextBatch(): RowBatch = if (rows.isEmpty) null
  else {
    val words =
      types.map(t => if (RowBatch.isText(t)) null else new Array[Long](CopiedBatches.Rows))
    val texts =
      types.map(t => if (RowBatch.isText(t)) new Array[UTF8String](CopiedBatches.Rows) else null)
    val nulls = types.map(_ => null: Array[Boolean])
    var n = 0
    while (n < CopiedBatches.Rows && rows.hasNext) {
      val row = rows.next()
      types.indices.foreach { k =>
        if (row.isNullAt(k)) {
          if (nulls(k) == null) nulls(k) = new Array[Boolean](CopiedBatches.Rows)
          nulls(k)(n) = true
        } else if (texts(k) != null) texts(k)(n) = row.getUTF8String(k).copy()
        else words(k)(n) = Platform.getLong(
          row.getBaseObject,
          row.getBaseOffset + flagBytes + 8L * k)
      }
      n += 1
    }
    new RowBatch(n, words, nulls, texts)
  }
}

private object CopiedBatches {
  private val Rows = 1 << 12
}

/** A row of a batch. */
final class BatchRow(types: Array[DataType]) extends BaseGenericInternalRow {
  private val shifts = types.map(RowBatch.shift)
  var batch: RowBatch = _
  var at = 0

  private def word(ordinal: Int): Long = batch.words(ordinal)(at) >> shifts(ordinal)

  /** The total length of the row's texts in bytes. */
  def textBytes: Long = batch.textBytes(at)

  override def numFields: Int = types.length
  override def isNullAt(ordinal: Int): Boolean = batch.isNull(ordinal, at)
  override def getLong(ordinal: Int): Long = batch.words(ordinal)(at)
  override def getInt(ordinal: Int): Int = word(ordinal).toInt
  override def getShort(ordinal: Int): Short = word(ordinal).toShort
  override def getByte(ordinal: Int): Byte = word(ordinal).toByte
  override def getBoolean(ordinal: Int): Boolean = getByte(ordinal) != 0
  override def getFloat(ordinal: Int): Float = java.lang.Float.intBitsToFloat(getInt(ordinal))
  override def getDouble(ordinal: Int): Double =
    java.lang.Double.longBitsToDouble(getLong(ordinal))
  override def getUTF8String(ordinal: Int): UTF8String = batch.texts(ordinal)(at)

  override protected def genericGet(ordinal: Int): Any =
    if (isNullAt(ordinal)) null
    else types(ordinal) match {
      case BooleanType => getBoolean(ordinal)
      case ByteType => getByte(ordinal)
      case ShortType => getShort(ordinal)
      case FloatType => getFloat(ordinal)
      case DoubleType => getDouble(ordinal)
      case _: StringType => getUTF8String(ordinal)
      case dataType => if (dataType.defaultSize == 4) getInt(ordinal) else getLong(ordinal)
    }

  override def setNullAt(ordinal: Int): Unit = readOnly()
  override def update(ordinal: Int, value: Any): Unit = readOnly()
  private def readOnly() = throw new UnsupportedOperationException("rows of a batch are read only")
}
