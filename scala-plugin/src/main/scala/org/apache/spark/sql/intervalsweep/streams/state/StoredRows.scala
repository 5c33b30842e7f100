// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.execution.block.EndpointOrder
import org.apache.spark.sql.intervalsweep.execution.index.RangeCounts
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.unsafe.Platform

/**
 * Where the numbers of a packed row are:
 * {{{
 *   flags INT | key LONG | clock LONG | expiry LONG | endpoints LONG ... | columns ...
 * }}}
 *
 * @param endpoints how many endpoints a row has
 * @param columns   how many columns of the stream it has
 * @param sortedBy  the endpoint by which rows of one key are in order
 */
case class RowFields(endpoints: Int, columns: Int, sortedBy: Int) {
  val size: Int = RowFields.FirstEndpoint + endpoints + columns
  val firstColumn: Int = RowFields.FirstEndpoint + endpoints
  private val start = Platform.BYTE_ARRAY_OFFSET + UnsafeRow.calculateBitSetWidthInBytes(size)

  def number(bytes: Array[Byte], at: Int, field: Int): Long =
    Platform.getLong(bytes, start.toLong + at + 8L * field)
}

object RowFields {
  val Flags = 0
  val Key = 1
  val Clock = 2
  val Expiry = 3
  val FirstEndpoint = 4

  /** The bits of the flags. Behind them is the slot that keeps a row, if rows go to all slots. */
  val IsRight = 1
  val IsReversed = 4
  val IsTooLong = 8
  val FlagBits = 4
}

/** Packed rows one behind the other; row i is the bytes from `offsets(i)` to `offsets(i + 1)`. */
final class RowBytes(
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

  /** Makes room for a row; says where it begins. */
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

  /** As one value of a state variable. */
  def toChunk: Array[Byte] = {
    val buffer = ByteBuffer.allocate(8 + 4 * (size + 1) + offsets(size))
    buffer.putInt(RowBytes.Format).putInt(size)
    buffer.asIntBuffer().put(offsets, 0, size + 1)
    buffer.position(8 + 4 * (size + 1))
    buffer.put(bytes, 0, offsets(size))
    buffer.array()
  }
}

object RowBytes {
  private val Format = 1

  /** With room for some rows. */
  def like(rows: Seq[RowBytes]): RowBytes = {
    val bytes = rows.map(r => r.offset(r.size).toLong).sum
    val room = new Array[Byte](math.min(bytes, Int.MaxValue - 64L).toInt)
    new RowBytes(room, new Array[Int](rows.map(_.size).sum + 2), 0)
  }

  def ofChunk(chunk: Array[Byte]): RowBytes = {
    val buffer = ByteBuffer.wrap(chunk)
    val format = buffer.getInt()
    if (format != Format) StreamErrors.stateFormat(format, Format)
    val size = buffer.getInt()
    val offsets = new Array[Int](size + 1)
    buffer.asIntBuffer().get(offsets)
    val start = 8 + 4 * (size + 1)
    new RowBytes(java.util.Arrays.copyOfRange(chunk, start, start + offsets(size)), offsets, size)
  }
}

/**
 * Rows in order of key and endpoint, with their numbers in arrays, and for each endpoint the least
 * and the greatest of each block of rows: what a search need not look at.
 */
final class IndexedRows private (val rows: RowBytes, fields: RowFields) {
  val size: Int = rows.size
  val keys: Array[Long] = column(RowFields.Key)
  val expiries: Array[Long] = column(RowFields.Expiry)
  val endpoints: Array[Array[Long]] =
    Array.tabulate(fields.endpoints)(k => column(RowFields.FirstEndpoint + k))
  val sorted: Array[Long] = if (fields.endpoints == 0) keys else endpoints(fields.sortedBy)
  private val indexes = endpoints.map(new EndpointIndexes(_))

  def blocks(endpoint: Int): Blocks = indexes(endpoint).blocks
  private[streams] def counts(endpoint: Int): RangeCounts = indexes(endpoint).counts

  /** Some of the rows, whose numbers are in order. */
  private[streams] def take(numbers: Array[Int]): IndexedRows =
    if (numbers.length == size) this
    else {
      val some = new RowBytes
      numbers.foreach(i => some.add(rows.data, rows.offset(i), rows.length(i)))
      IndexedRows.ofSorted(some, fields)
    }

  private def column(field: Int): Array[Long] = {
    val values = new Array[Long](size)
    var i = 0
    while (i < size) {
      values(i) = fields.number(rows.data, rows.offset(i), field)
      i += 1
    }
    values
  }

  /** Lets a row be row i. */
  def point(row: UnsafeRow, i: Int): UnsafeRow = {
    row.pointTo(rows.data, Platform.BYTE_ARRAY_OFFSET.toLong + rows.offset(i), rows.length(i))
    row
  }
}

/** What the values of an endpoint are looked up by, each made when it is first asked for. */
private final class EndpointIndexes(values: Array[Long]) {
  lazy val blocks = new Blocks(values)
  lazy val counts = new RangeCounts(values)
}

object IndexedRows {

  /** Of rows that are in order. */
  def ofSorted(rows: RowBytes, fields: RowFields): IndexedRows = new IndexedRows(rows, fields)

  def of(rows: RowBytes, fields: RowFields): IndexedRows = sorted(rows, fields)._1

  /** Rows in order, and for each the number that it had before. */
  def sorted(rows: RowBytes, fields: RowFields): (IndexedRows, Int => Int) = {
    val unsorted = new IndexedRows(rows, fields)
    EndpointOrder.of(groups = null, unsorted.keys, unsorted.size, ties = unsorted.sorted)
      .fold((unsorted, identity[Int] _)) { order =>
        val sorted = RowBytes.like(Seq(rows))
        order.take(unsorted.size)
          .foreach(i => sorted.add(rows.data, rows.offset(i), rows.length(i)))
        (new IndexedRows(sorted, fields), order(_))
      }
  }
}

/** The least and the greatest value of each 16, of each 256 and so on, up to a level of few. */
final class Blocks(values: Array[Long]) {
  private val levels: Array[Blocks.Level] = {
    val first = Blocks.level(values, values)
    Iterator.iterate(first)(l => Blocks.level(l.least, l.most))
      .takeWhile(l => (l eq first) || l.size > 1).toArray
  }

  /** The first row from `i` on, before `end`, whose block may hold a value within the bounds. */
  def skip(i: Int, end: Int, from: Long, to: Long): Int = {
    val top = levels.length - 1
    var level = top
    var at = i
    while (level >= 0 && at < end) {
      val bits = Blocks.Bits * (level + 1)
      val bounds = levels(level)
      val block = at >> bits
      if (bounds.least(block) > to || bounds.most(block) < from) {
        at = (block + 1) << bits
        // At the border of a larger block that one is asked.
        while (level < top && (at & ((1 << Blocks.Bits * (level + 2)) - 1)) == 0) level += 1
      } else level -= 1
    }
    math.min(at, end)
  }
}

object Blocks {
  val Bits = 4
  val Size: Int = 1 << Bits

  private final class Level(val least: Array[Long], val most: Array[Long]) {
    def size: Int = least.length
  }

  private def level(low: Array[Long], high: Array[Long]): Level = {
    val n = (low.length + Size - 1) >> Bits
    val (least, most) = (Array.fill(n)(Long.MaxValue), Array.fill(n)(Long.MinValue))
    var i = 0
    while (i < low.length) {
      val b = i >> Bits
      least(b) = math.min(least(b), low(i))
      most(b) = math.max(most(b), high(i))
      i += 1
    }
    new Level(least, most)
  }
}
