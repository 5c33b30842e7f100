// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeRow}
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.types.{IntegerType, LongType}
import org.apache.spark.unsafe.Platform

/**
 * The layout of a packed row of a join:
 * {{{
 *   flags INT | key LONG | clock LONG | expiry LONG | endpoints LONG ... | columns ...
 * }}}
 *
 * @param endpoints the number of endpoints
 * @param columns   the number of columns of the stream
 * @param sortedBy  the endpoint by which the rows of a key are sorted
 */
case class RowFields(endpoints: Int, columns: Int, sortedBy: Int) {
  val size: Int = RowFields.FirstEndpoint + endpoints + columns
  val firstColumn: Int = RowFields.FirstEndpoint + endpoints
  private val start = Platform.BYTE_ARRAY_OFFSET + UnsafeRow.calculateBitSetWidthInBytes(size)

  def number(bytes: Array[Byte], at: Int, field: Int): Long =
    Platform.getLong(bytes, start.toLong + at + 8L * field)
}

object RowFields {

  /** The attributes of the fields before the columns. */
  private[streams] def attributes(endpoints: Int): Seq[Attribute] = {
    val numbers = Seq("key", "clock", "expiry") ++ (0 until endpoints).map(k => s"endpoint$k")
    AttributeReference("flags", IntegerType)() +: numbers.map(AttributeReference(_, LongType)())
  }

  val Flags = 0
  val Key = 1
  val Clock = 2
  val Expiry = 3
  val FirstEndpoint = 4

  /**
   * The bits of the flags. The higher bits have the state partition that stores the row, if rows go
   * to all partitions.
   */
  val IsRight = 1
  val IsReversed = 4
  val IsTooLong = 8
  val FlagBits = 4
}

/** Packed rows in one array; row i is the bytes from `offsets(i)` to `offsets(i + 1)`. */
final class RowBuffer(
    private var bytes: Array[Byte],
    private var offsets: Array[Int],
    var size: Int) {
  def this() = this(new Array[Byte](1 << 12), new Array[Int](65), 0)

  def data: Array[Byte] = bytes
  def offset(i: Int): Int = offsets(i)
  def length(i: Int): Int = offsets(i + 1) - offsets(i)

  def add(from: Array[Byte], at: Int, n: Int): Unit = {
    val to = reserve(n)
    System.arraycopy(from, at, bytes, to, n)
  }

  /** Makes room for a row; returns its offset. */
  private def reserve(n: Int): Int = {
    val end = offsets(size)
    if (end.toLong + n > Int.MaxValue - 64)
      throw new IllegalStateException(StreamErrors.text(
        "TOO_MANY_ROWS",
        s"A task has ${size + 1} rows of one micro-batch, more than 2 GiB: take fewer rows per " +
          "batch, or more partitions (spark.sql.shuffle.partitions)."))
    if (end + n > bytes.length)
      bytes = java.util.Arrays.copyOf(
        bytes,
        math.max(end + n, math.min(2L * bytes.length, Int.MaxValue - 64L).toInt))
    if (size + 2 > offsets.length) offsets = java.util.Arrays.copyOf(offsets, 2 * offsets.length)
    size += 1
    offsets(size) = end + n
    end
  }

  def add(row: UnsafeRow): Unit = {
    val n = row.getSizeInBytes
    val to = Platform.BYTE_ARRAY_OFFSET.toLong + reserve(n)
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, bytes, to, n.toLong)
  }

  /** The rows as a packed chunk. */
  def toChunk(fields: RowFields): Array[Byte] = {
    val packer = new RowPacker(fields.size)
    val row = new UnsafeRow(fields.size)
    (0 until size).foreach(i => packer.add(point(row, i)))
    packer.take()
  }

  /** Points `row` at row i. */
  def point(row: UnsafeRow, i: Int): UnsafeRow = {
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + offset(i), length(i))
    row
  }
}

object RowBuffer {

  /** An empty buffer with room for all of these rows. */
  def like(rows: Seq[RowBuffer]): RowBuffer = {
    val bytes = rows.map(r => r.offset(r.size).toLong).sum
    val room = new Array[Byte](math.min(bytes, Int.MaxValue - 64L).toInt)
    new RowBuffer(room, new Array[Int](rows.map(_.size).sum + 2), 0)
  }

  /** The rows of packed chunks. */
  def ofChunks(chunks: Seq[Array[Byte]], fields: RowFields): RowBuffer = {
    val rows = new RowBuffer
    chunks.foreach(RowUnpacker.unsafeRows(_, fields.size).foreach(rows.add))
    rows
  }
}
