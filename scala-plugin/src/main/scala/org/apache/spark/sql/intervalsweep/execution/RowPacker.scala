// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

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
  private val columns = width + 1 // the last one: how long the rest is
  private var words = new Array[Long](columns * RowPacker.FirstRows)
  private var rests = Array.emptyByteArray
  private var restBytes = 0
  private var rows = 0

  def numRows: Int = rows

  /** About how many bytes the rows take here. */
  def size: Long = 8L * columns * rows + restBytes

  def add(row: UnsafeRow): Unit = {
    val at = columns * rows
    if (at == words.length) words = Arrays.copyOf(words, 2 * at)
    var k = 0
    while (k < width) {
      words(at + k) = Platform.getLong(row.getBaseObject, row.getBaseOffset + 8L * k)
      k += 1
    }
    val rest = row.getSizeInBytes - 8 * width
    words(at + width) = rest
    if (rest > 0) addRest(row, rest)
    rows += 1
  }

  private def addRest(row: UnsafeRow, bytes: Int): Unit = {
    val needed = Math.addExact(restBytes, bytes)
    if (needed > rests.length) rests = Arrays.copyOf(rests, RowPacker.larger(needed))
    val from = row.getBaseOffset + 8L * width
    val to = Platform.BYTE_ARRAY_OFFSET + restBytes.toLong
    Platform.copyMemory(row.getBaseObject, from, rests, to, bytes.toLong)
    restBytes = needed
  }

  /** Packs the rows, and forgets them. */
  def take(): Array[Byte] = {
    val least = new Array[Long](columns)
    val bytes = Array.tabulate(columns)(measure(_, least))
    val differences = bytes.map(_.toLong * rows).sum
    val size = 4 + columns * RowPacker.ColumnHeader + differences + restBytes + RowPacker.Slack
    val packed = RowPacker.buffer(new Array[Byte](Math.toIntExact(size)))
    packed.putInt(rows)
    (0 until columns).foreach(k => store(k, least(k), bytes(k), packed))
    packed.put(rests, 0, restBytes)
    rows = 0
    restBytes = 0
    packed.array
  }

  /** How many bytes a column's differences from its least value need. */
  private def measure(column: Int, least: Array[Long]): Int = {
    val (values, step, end) = (words, columns, columns * rows)
    var low = Long.MaxValue
    var high = Long.MinValue
    var at = column
    while (at < end) {
      low = math.min(low, values(at))
      high = math.max(high, values(at))
      at += step
    }
    least(column) = low
    if (rows == 0) 0 else (71 - java.lang.Long.numberOfLeadingZeros(high - low)) / 8
  }

  /** Each value is stored with eight bytes, of which the next one overwrites those not needed. */
  private def store(column: Int, least: Long, bytes: Int, packed: ByteBuffer): Unit = {
    packed.putLong(least).put(bytes.toByte)
    if (bytes > 0) {
      // Local: what is stored might be a field, for all that the compiler knows.
      val (values, step, end, target) = (words, columns, columns * rows, packed.array)
      var to = packed.position()
      var at = column
      while (at < end) {
        RowPacker.putLong(target, to, values(at) - least)
        at += step
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
  private val packed = RowPacker.buffer(bytes)
  private val row = new UnsafeRow(numFields)

  /** How many rows there are in all. */
  val numRows: Int = packed.getInt()
  private val words = new Array[Long](columns * numRows)
  (0 until columns).foreach(load)

  /** Where a row with a rest is put together. */
  private var whole = Array.emptyByteArray
  private var restAt = packed.position()
  private var position = 0

  override def hasNext: Boolean = position < numRows

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

  private def load(column: Int): Unit = {
    val least = packed.getLong()
    val width = packed.get().toInt
    val mask = if (width == 0) 0L else -1L >>> (64 - 8 * width)
    val (values, step, end) = (words, columns, words.length)
    var from = packed.position()
    var at = column
    while (at < end) {
      values(at) = least + (RowPacker.getLong(bytes, from) & mask)
      at += step
      from += width
    }
    packed.position(from)
  }
}

object RowPacker {
  private val FirstRows = 64

  /** The least value, and how many bytes the differences have. */
  private[execution] val ColumnHeader = 9

  /** The last difference is read and written with eight bytes, too. */
  private[execution] val Slack = 8

  private[execution] def buffer(bytes: Array[Byte]): ByteBuffer =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  private val isLittleEndian = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN

  private[execution] def putLong(bytes: Array[Byte], at: Int, value: Long): Unit =
    Platform.putLong(
      bytes,
      Platform.BYTE_ARRAY_OFFSET + at.toLong,
      if (isLittleEndian) value else java.lang.Long.reverseBytes(value))

  private[execution] def getLong(bytes: Array[Byte], at: Int): Long = {
    val value = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + at.toLong)
    if (isLittleEndian) value else java.lang.Long.reverseBytes(value)
  }

  /** The words that a row of so many fields begins with. */
  private[execution] def words(numFields: Int): Int =
    UnsafeRow.calculateBitSetWidthInBytes(numFields) / 8 + numFields

  private def larger(bytes: Int): Int =
    math.max(bytes, math.min(2L * bytes, Int.MaxValue - 64).toInt)
}
