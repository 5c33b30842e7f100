// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods.roundNumberOfBytesToNearestWord
import org.apache.spark.unsafe.types.UTF8String

/**
 * Packs rows, to be sent many at a time and not one by one.
 *
 * A row of Spark's begins with words of 64 bits, which say what is NULL, and one for each field;
 * behind them is what is longer. The words are stored by columns: of each the least value, and of
 * every row how much more it has, in as few bytes as the largest difference needs. So a flag that
 * never changes takes nothing, and endpoints of a million seconds three bytes.
 *
 * {{{
 *   rows      | NULLs | ts  | te  | name ->| "a"        rows | least, bytes, differences | per word
 *             | NULLs | ts  | te  | name ->| "bc"       how long each rest is            | as a word
 *             '------- words ------'-------' rest       the rests
 * }}}
 *
 * @param numFields of each row
 */
final class RowPacker(numFields: Int) {
  private val width = RowPacker.words(numFields)
  private val flags = width - numFields // the words that say what is NULL
  private val columns = Array.fill(width + 1)(new Array[Long](RowPacker.FirstRows))
  private var rests = Array.emptyByteArray
  private var restBytes = 0
  private var rows = 0

  def numRows: Int = rows

  /** About how many bytes the rows take here. */
  def size: Long = 8L * columns.length * rows + restBytes

  /** @param row in Spark's own format, or of a batch */
  def add(row: InternalRow): Unit = {
    reserve(1)
    row match {
      case row: BatchRow => addFields(row.batch, row.at)
      case _ => addWords(row.asInstanceOf[UnsafeRow])
    }
    rows += 1
  }

  /** Adds `n` rows of a batch from one on. */
  def addAll(batch: RowBatch, first: Int, n: Int): Unit = {
    reserve(n)
    (0 until flags).foreach(k => Arrays.fill(columns(k), rows, rows + n, 0L))
    (0 until numFields).foreach { k =>
      if (batch.words(k) != null)
        System.arraycopy(batch.words(k), first, columns(flags + k), rows, n)
      if (batch.nulls(k) != null) (0 until n).foreach(i => setNullIf(batch, k, first + i, rows + i))
    }
    Arrays.fill(columns(width), rows, rows + n, 0L)
    if (batch.hasTexts) (0 until n).foreach(i => addTexts(batch, first + i, rows + i))
    rows += n
  }

  private def reserve(more: Int): Unit = if (rows + more > columns(0).length) {
    val larger = math.max(rows + more, 2 * columns(0).length)
    columns.indices.foreach(k => columns(k) = Arrays.copyOf(columns(k), larger))
  }

  private def addWords(row: UnsafeRow): Unit = {
    var k = 0
    while (k < width) {
      columns(k)(rows) = Platform.getLong(row.getBaseObject, row.getBaseOffset + 8L * k)
      k += 1
    }
    val rest = row.getSizeInBytes - 8 * width
    columns(width)(rows) = rest
    if (rest > 0) addRest(row, rest)
  }

  private def addFields(batch: RowBatch, row: Int): Unit = {
    var k = 0
    while (k < flags) { columns(k)(rows) = 0; k += 1 }
    k = 0
    while (k < numFields) {
      if (batch.words(k) != null) columns(flags + k)(rows) = batch.words(k)(row)
      if (batch.nulls(k) != null) setNullIf(batch, k, row, rows)
      k += 1
    }
    columns(width)(rows) = 0
    if (batch.hasTexts) addTexts(batch, row, rows)
  }

  /** The word of a text says where it is from the beginning of the row on, and how long. */
  private def addTexts(batch: RowBatch, row: Int, at: Int): Unit = {
    val start = restBytes
    var k = 0
    while (k < numFields) {
      if (batch.texts(k) != null && !batch.isNull(k, row)) {
        val text = batch.texts(k)(row)
        columns(flags + k)(at) = (8L * width + restBytes - start) << 32 | text.numBytes
        addText(text)
      }
      k += 1
    }
    columns(width)(at) = restBytes - start
  }

  /** Behind it are zeros up to the next word. */
  private def addText(text: UTF8String): Unit = {
    val end = makeRoom(roundNumberOfBytesToNearestWord(text.numBytes))
    text.writeToMemory(rests, Platform.BYTE_ARRAY_OFFSET + restBytes.toLong)
    Arrays.fill(rests, restBytes + text.numBytes, end, 0.toByte)
    restBytes = end
  }

  private def setNullIf(batch: RowBatch, field: Int, row: Int, at: Int): Unit =
    if (batch.nulls(field)(row)) {
      columns(field / 64)(at) |= 1L << field
      columns(flags + field)(at) = 0
    }

  private def addRest(row: UnsafeRow, bytes: Int): Unit = {
    val end = makeRoom(bytes)
    val from = row.getBaseOffset + 8L * width
    val to = Platform.BYTE_ARRAY_OFFSET + restBytes.toLong
    Platform.copyMemory(row.getBaseObject, from, rests, to, bytes.toLong)
    restBytes = end
  }

  /** Makes room for more of what rows have behind their words; says where it will end. */
  private def makeRoom(bytes: Int): Int = {
    val needed = Math.addExact(restBytes, bytes)
    if (needed > rests.length) rests = Arrays.copyOf(rests, RowPacker.larger(needed))
    needed
  }

  /** Packs the rows, and forgets them. */
  def take(): Array[Byte] = {
    val least = new Array[Long](columns.length)
    val bytes = Array.tabulate(columns.length)(measure(_, least))
    val differences = bytes.map(_.toLong * rows).sum
    val headers = 4 + columns.length * RowPacker.ColumnHeader
    val size = headers + differences + restBytes + RowPacker.Slack
    val packed = RowPacker.buffer(new Array[Byte](Math.toIntExact(size)))
    packed.putInt(rows)
    columns.indices.foreach(k => store(columns(k), least(k), bytes(k), packed))
    packed.put(rests, 0, restBytes)
    rows = 0
    restBytes = 0
    packed.array
  }

  /** How many bytes a column's differences from its least value need. */
  private def measure(column: Int, least: Array[Long]): Int = {
    val (values, n) = (columns(column), rows)
    var low = Long.MaxValue
    var high = Long.MinValue
    var i = 0
    while (i < n) {
      low = math.min(low, values(i))
      high = math.max(high, values(i))
      i += 1
    }
    least(column) = low
    if (n == 0) 0 else (71 - java.lang.Long.numberOfLeadingZeros(high - low)) / 8
  }

  /** Each value is stored with eight bytes, of which the next one overwrites those not needed. */
  private def store(values: Array[Long], least: Long, bytes: Int, packed: ByteBuffer): Unit = {
    packed.putLong(least).put(bytes.toByte)
    if (bytes > 0) {
      // Local: what is stored might be a field, for all that the compiler knows.
      val (n, target) = (rows, packed.array)
      var to = packed.position()
      var i = 0
      while (i < n) {
        RowPacker.putLong(target, to, values(i) - least)
        i += 1
        to += bytes
      }
      packed.position(to)
    }
  }
}

/**
 * The rows that a [[RowPacker]] has packed, in their order. Each is valid until the next one.
 *
 * @param numFields of each row
 */
final class PackedRowIterator(bytes: Array[Byte], numFields: Int) extends Iterator[UnsafeRow] {
  private val width = RowPacker.words(numFields)
  private val columns = width + 1
  private val packed = new PackedColumns(bytes)
  private val row = new UnsafeRow(numFields)
  private val words = new Array[Long](columns * packed.numRows)
  (0 until columns).foreach(packed.load(words, _, columns))

  /** Where a row with a rest is put together. */
  private var whole = Array.emptyByteArray
  private var restAt = packed.position
  private var position = 0

  override def hasNext: Boolean = position < packed.numRows

  override def next(): UnsafeRow = {
    val at = columns * position
    val from = Platform.LONG_ARRAY_OFFSET + 8L * at
    val rest = words(at + width).toInt
    position += 1
    if (rest == 0) row.pointTo(words, from, 8 * width) else pointToWhole(from, rest)
    row
  }

  private def pointToWhole(from: Long, rest: Int): Unit = {
    val size = 8 * width + rest
    if (size > whole.length) whole = new Array[Byte](2 * size)
    Platform.copyMemory(words, from, whole, Platform.BYTE_ARRAY_OFFSET.toLong, 8L * width)
    System.arraycopy(bytes, restAt, whole, 8 * width, rest)
    restAt += rest
    row.pointTo(whole, size)
  }
}

/** The columns of packed rows, read one after the other. */
private final class PackedColumns(bytes: Array[Byte]) {
  private val packed = RowPacker.buffer(bytes)
  val numRows: Int = packed.getInt()

  /** Where the next column begins, or what is behind the last one. */
  def position: Int = packed.position()

  /** Reads a column into every so many elements of an array. */
  def load(values: Array[Long], first: Int, step: Int): Unit = {
    val least = packed.getLong()
    val width = packed.get().toInt
    val mask = if (width == 0) 0L else -1L >>> (64 - 8 * width)
    var from = packed.position()
    var at = first
    while (at < values.length) {
      values(at) = least + (RowPacker.getLong(bytes, from) & mask)
      at += step
      from += width
    }
    packed.position(from)
  }

  def load(): Array[Long] = {
    val values = new Array[Long](numRows)
    if (!passZeros()) load(values, first = 0, step = 1)
    values
  }

  /** Goes past the next column if all its values are 0. */
  def passZeros(): Boolean = {
    val at = packed.position()
    val areZero = packed.getLong(at) == 0 && packed.get(at + 8) == 0
    if (areZero) packed.position(at + RowPacker.ColumnHeader)
    areZero
  }
}

object RowPacker {
  private val FirstRows = 64

  /** The rows of some chunks, each what a packer has taken: in batches, if these take the fields. */
  def unpack(chunks: Iterator[Array[Byte]], types: Array[DataType]): Iterator[InternalRow] =
    if (!types.forall(RowBatch.takes)) chunks.flatMap(new PackedRowIterator(_, types.length))
    else new BatchedRows(types) {
      override protected def nextBatch(): RowBatch =
        if (chunks.hasNext) unpacked(chunks.next(), types) else null
    }

  /** How many rows there are in a chunk. */
  def numRows(chunk: Array[Byte]): Int = buffer(chunk).getInt()

  private def unpacked(chunk: Array[Byte], types: Array[DataType]): RowBatch = {
    val columns = new PackedColumns(chunk)
    val numFields = types.length
    val flags = Array.fill(words(numFields) - numFields)(
      if (columns.passZeros()) null else columns.load())
    val fields = Array.fill(numFields)(columns.load())
    val nulls = Array.tabulate(numFields) { k =>
      if (flags(k / 64) == null) null else nullsIfAny(flags(k / 64), k)
    }
    val texts = new Array[Array[UTF8String]](numFields)
    if (types.exists(RowBatch.isText)) {
      val rests = restStarts(columns.load(), columns.position, words(numFields))
      for (k <- 0 until numFields if RowBatch.isText(types(k))) {
        texts(k) = RowPacker.texts(chunk, rests, fields(k), nulls(k))
        fields(k) = null
      }
    }
    new RowBatch(columns.numRows, fields, nulls, texts)
  }

  /** Where each row would begin, if its words were in front of its rest. */
  private def restStarts(sizes: Array[Long], first: Int, width: Int): Array[Int] = {
    val starts = new Array[Int](sizes.length)
    var at = first - 8 * width
    var i = 0
    while (i < sizes.length) { starts(i) = at; at += sizes(i).toInt; i += 1 }
    starts
  }

  /** Parts of the chunk, which is kept with them: that takes less than copies do. */
  private def texts(
      chunk: Array[Byte],
      starts: Array[Int],
      words: Array[Long],
      nulls: Array[Boolean]): Array[UTF8String] = {
    val texts = new Array[UTF8String](words.length)
    var i = 0
    while (i < words.length) {
      if (nulls == null || !nulls(i)) {
        val from = Platform.BYTE_ARRAY_OFFSET + starts(i).toLong + (words(i) >>> 32)
        texts(i) = UTF8String.fromAddress(chunk, from, words(i).toInt)
      }
      i += 1
    }
    texts
  }

  private def nullsIfAny(flags: Array[Long], field: Int): Array[Boolean] = {
    var any = 0L
    var i = 0
    while (i < flags.length) { any |= flags(i); i += 1 }
    if ((any >>> field & 1) == 0) null else flags.map(f => (f >>> field & 1) == 1)
  }

  /** The least value, and how many bytes the differences have. */
  private[execution] val ColumnHeader = 9

  /** The last difference is read and written with eight bytes, too. */
  private[execution] val Slack = 8

  private[execution] def buffer(bytes: Array[Byte]): ByteBuffer =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  private[execution] def putLong(bytes: Array[Byte], at: Int, value: Long): Unit =
    Platform.putLong(
      bytes,
      Platform.BYTE_ARRAY_OFFSET + at.toLong,
      if (RowBatch.isLittleEndian) value else java.lang.Long.reverseBytes(value))

  private[execution] def getLong(bytes: Array[Byte], at: Int): Long = {
    val value = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + at.toLong)
    if (RowBatch.isLittleEndian) value else java.lang.Long.reverseBytes(value)
  }

  /** The words that a row of so many fields begins with. */
  private[execution] def words(numFields: Int): Int =
    UnsafeRow.calculateBitSetWidthInBytes(numFields) / 8 + numFields

  private def larger(bytes: Int): Int =
    math.max(bytes, math.min(2L * bytes, Int.MaxValue - 64).toInt)
}
