// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.nio.ByteBuffer
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods.roundNumberOfBytesToNearestWord
import org.apache.spark.unsafe.types.UTF8String

/**
 * Packs rows, so that many are sent at a time and not one by one.
 *
 * A row in Spark's own format starts with 64-bit words: NULL flags, and one word per field. Values
 * that do not fit into a word follow; they are the rest of the row. The packer stores the words by
 * column: the least value of the column, and for each row the difference from it, in as few bytes
 * as the largest difference needs. So a flag that never changes takes no bytes per row, and
 * endpoints within a million seconds of each other take three.
 *
 * {{{
 *   rows      | NULLs | ts  | te  | name ->| "a"       rows | least, bytes, differences | per word
 *             | NULLs | ts  | te  | name ->| "bc"      how long each rest is            | as a word
 *             '------- words ------'-------' rest      the rests
 * }}}
 *
 * @param numFields the number of fields of each row
 */
final class RowPacker(numFields: Int) {
  private val width = PackedFormat.words(numFields)
  private val flags = width - numFields // the words of NULL flags
  private val columns = Array.fill(width + 1)(new Array[Long](RowPacker.FirstRows))
  private var rests = Array.emptyByteArray
  private var restBytes = 0
  private var rows = 0

  def numRows: Int = rows

  /** The approximate number of bytes that the rows take in the packer. */
  def size: Long = 8L * columns.length * rows + restBytes

  /** The bytes that the rows take in Spark's own format. */
  def rowBytes: Long = 8L * width * rows + restBytes

  /** @param row a row in Spark's own format, or a row of a batch */
  def add(row: InternalRow): Unit = {
    reserve(1)
    row match {
      case row: BatchRow => addFields(row.batch, row.at)
      case _ => addWords(row.asInstanceOf[UnsafeRow])
    }
    rows += 1
  }

  /** Adds `n` rows of a batch, from row `first` on. */
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

  /** Adds `n` rows, whose words must all be set. Returns the place of the first one. */
  private[packing] def addRows(n: Int): Int = {
    reserve(n)
    rows += n
    rows - n
  }

  /** The words of all rows in a column: of flags, of a field, or of the sizes of the rests. */
  private[packing] def column(k: Int): Array[Long] = columns(k)

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

  /**
   * Adds the texts of a row, after those of the rows before it. The word of a text has its offset
   * from the start of the row, and its length.
   */
  private[packing] def addTexts(batch: RowBatch, row: Int, at: Int): Unit = {
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

  /** Adds a text, and zeros up to the next word. */
  private def addText(text: UTF8String): Unit = {
    val end = makeRoom(roundNumberOfBytesToNearestWord(text.numBytes))
    text.writeToMemory(rests, Platform.BYTE_ARRAY_OFFSET + restBytes.toLong)
    Arrays.fill(rests, restBytes + text.numBytes, end, 0.toByte)
    restBytes = end
  }

  private def setNullIf(batch: RowBatch, field: Int, row: Int, at: Int): Unit =
    if (batch.nulls(field)(row)) setNull(field, at)

  private[packing] def setNull(field: Int, at: Int): Unit = {
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

  /** Makes room for `bytes` more bytes of rests. Returns where they will end. */
  private def makeRoom(bytes: Int): Int = {
    val needed = Math.addExact(restBytes, bytes)
    if (needed > rests.length) rests = Arrays.copyOf(rests, RowPacker.larger(needed))
    needed
  }

  /** Packs the rows, and removes them from the packer. */
  def take(): Array[Byte] = {
    val least = new Array[Long](columns.length)
    val bytes = Array.tabulate(columns.length)(measure(_, least))
    val differences = bytes.map(_.toLong * rows).sum
    val headers = 4 + columns.length * PackedFormat.ColumnHeader
    val size = headers + differences + restBytes + PackedFormat.Slack
    val packed = PackedFormat.buffer(new Array[Byte](Math.toIntExact(size)))
    packed.putInt(rows)
    columns.indices.foreach(k => store(columns(k), least(k), bytes(k), packed))
    packed.put(rests, 0, restBytes)
    rows = 0
    restBytes = 0
    packed.array
  }

  /** The number of bytes that a column's differences from its least value need. */
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

  /**
   * Writes each difference as eight bytes. The next one overwrites the bytes that are not needed.
   */
  private def store(values: Array[Long], least: Long, bytes: Int, packed: ByteBuffer): Unit = {
    packed.putLong(least).put(bytes.toByte)
    if (bytes > 0) {
      // Local variables: as far as the compiler knows, a store could change a field.
      val (n, target) = (rows, packed.array)
      var to = packed.position()
      var i = 0
      while (i < n) {
        PackedFormat.putLong(target, to, values(i) - least)
        i += 1
        to += bytes
      }
      packed.position(to)
    }
  }
}

private object RowPacker {
  private val FirstRows = 16

  private def larger(bytes: Int): Int =
    math.max(bytes, math.min(2L * bytes, Int.MaxValue - 64).toInt)
}
