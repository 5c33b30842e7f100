// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Reads rows that a [[RowPacker]] has packed. */
object RowUnpacker {

  /**
   * The rows of packed chunks. They come as [[BatchedRows]] if a [[RowBatch]] takes all their
   * types.
   */
  def unpack(chunks: Iterator[Array[Byte]], types: Array[DataType]): Iterator[InternalRow] =
    if (!types.forall(RowBatch.takes)) chunks.flatMap(new PackedRowIterator(_, types.length))
    else new BatchedRows(types) {
      override protected def nextBatch(): RowBatch =
        if (chunks.hasNext) unpacked(chunks.next(), types) else null
    }

  /**
   * The rows of packed chunks in Spark's own format. They can also be taken as [[InBatches]] if a
   * [[RowBatch]] takes all their types.
   */
  def unsafeRows(chunks: Iterator[Array[Byte]], types: Array[DataType]): Iterator[UnsafeRow] =
    if (types.forall(RowBatch.takes)) new UnpackedRows(chunks, types)
    else chunks.flatMap(unsafeRows(_, types.length))

  /** The rows of a chunk in Spark's own format. */
  def unsafeRows(chunk: Array[Byte], numFields: Int): Iterator[UnsafeRow] =
    new PackedRowIterator(chunk, numFields)

  /** The number of rows in a chunk. */
  def numRows(chunk: Array[Byte]): Int = PackedFormat.buffer(chunk).getInt()

  private[packing] def unpacked(chunk: Array[Byte], types: Array[DataType]): RowBatch = {
    val columns = new PackedColumns(chunk)
    val numFields = types.length
    val flags = Array.fill(PackedFormat.words(numFields) - numFields)(
      if (columns.passZeros()) null else columns.load())
    val fields = Array.fill(numFields)(columns.load())
    val nulls = Array.tabulate(numFields) { k =>
      if (flags(k / 64) == null) null else nullsIfAny(flags(k / 64), k)
    }
    val texts = new Array[Array[UTF8String]](numFields)
    if (types.exists(RowBatch.isText)) {
      val rests = restStarts(columns.load(), columns.position, PackedFormat.words(numFields))
      for (k <- 0 until numFields if RowBatch.isText(types(k))) {
        texts(k) = unpackedTexts(chunk, rests, fields(k), nulls(k))
        fields(k) = null
      }
    }
    new RowBatch(columns.numRows, fields, nulls, texts)
  }

  /**
   * The offset at which each row would start if its words preceded its rest. Offsets of texts count
   * from there.
   */
  private def restStarts(sizes: Array[Long], first: Int, width: Int): Array[Int] = {
    val starts = new Array[Int](sizes.length)
    var at = first - 8 * width
    var i = 0
    while (i < sizes.length) { starts(i) = at; at += sizes(i).toInt; i += 1 }
    starts
  }

  /**
   * The texts of a field, as references into the chunk. They keep the chunk in memory, which takes
   * less than copies do.
   */
  private def unpackedTexts(
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
}

/** The rows of packed chunks. A chunk is read as rows, or as a batch, when that is asked for. */
private final class UnpackedRows(chunks: Iterator[Array[Byte]], types: Array[DataType])
    extends Iterator[UnsafeRow] with InBatches {
  private var chunk: Array[Byte] = _
  private var numRows = 0
  private var taken = 0
  private var rows: PackedRowIterator = _
  private var columns: RowBatch = _

  override def hasNext: Boolean = {
    while (taken == numRows && chunks.hasNext) {
      chunk = chunks.next()
      numRows = RowUnpacker.numRows(chunk)
      taken = 0
      rows = null
      columns = null
    }
    taken < numRows
  }

  override def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException
    if (rows == null) {
      rows = new PackedRowIterator(chunk, types.length)
      rows.skip(taken)
    }
    taken += 1
    rows.next()
  }

  override def batch: RowBatch =
    if (!hasNext) null
    else {
      if (columns == null) columns = RowUnpacker.unpacked(chunk, types)
      columns
    }

  override def position: Int = taken

  override def skip(n: Int): Unit = {
    taken += n
    if (rows != null) rows.skip(n)
  }
}

/**
 * The rows that a [[RowPacker]] has packed, in their order. Each is valid until the next one is
 * read.
 *
 * @param numFields the number of fields of each row
 */
private final class PackedRowIterator(bytes: Array[Byte], numFields: Int)
    extends Iterator[UnsafeRow] {
  private val width = PackedFormat.words(numFields)
  private val columns = width + 1
  private val packed = new PackedColumns(bytes)
  private val row = new UnsafeRow(numFields)
  private val words = new Array[Long](columns * packed.numRows)
  (0 until columns).foreach(packed.load(words, _, columns))

  /** The buffer in which the words and the rest of a row are put together. */
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

  def skip(rows: Int): Unit = {
    val end = position + rows
    while (position < end) {
      restAt += words(columns * position + width).toInt
      position += 1
    }
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

/** The columns of packed rows, read one after another. */
private final class PackedColumns(bytes: Array[Byte]) {
  private val packed = PackedFormat.buffer(bytes)
  val numRows: Int = packed.getInt()

  /** The offset of the next column; after the last column, of the bytes behind it. */
  def position: Int = packed.position()

  /** Reads a column into the elements `first`, `first + step`, ... of an array. */
  def load(values: Array[Long], first: Int, step: Int): Unit = {
    val least = packed.getLong()
    val width = packed.get().toInt
    val mask = if (width == 0) 0L else -1L >>> (64 - 8 * width)
    var from = packed.position()
    var at = first
    while (at < values.length) {
      values(at) = least + (PackedFormat.getLong(bytes, from) & mask)
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

  /** Skips the next column if all its values are 0. Returns true if it did. */
  def passZeros(): Boolean = {
    val at = packed.position()
    val areZero = packed.getLong(at) == 0 && packed.get(at + 8) == 0
    if (areZero) packed.position(at + PackedFormat.ColumnHeader)
    areZero
  }
}
