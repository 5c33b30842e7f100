// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import org.apache.spark.SparkEnv
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType}

/**
 * Broadcasts rows in packed form. The tasks that compute the rows pack them: see
 * [[PackedRowsExec]].
 *
 * Spark's broadcast exchange sends an array of rows, and Java serializes each row as an object of
 * its own. For a million small rows this takes longer than the join. Here the array has one row per
 * mebibyte: the size of the bytes that a [[RowPacker]] made of some rows, and these bytes,
 * compressed. The driver passes them on unchanged.
 */
case object PackedRows extends BroadcastMode {
  private val types = Array[DataType](IntegerType, BinaryType)

  override def canonicalized: BroadcastMode = this

  override def transform(rows: Array[InternalRow]): Array[InternalRow] = rows

  override def transform(
      rows: Iterator[InternalRow],
      sizeHint: Option[Long]): Array[InternalRow] = rows.toArray

  /**
   * Chunks as rows. The exchange knows the size of such a row, and Java serializes it as one array.
   */
  def of(chunks: Iterator[PackedChunk]): Iterator[InternalRow] = {
    val project = UnsafeProjection.create(types)
    chunks.map(chunk => project(InternalRow(chunk.size, chunk.bytes)).copy())
  }

  /**
   * The rows that were packed. Each row is valid until the next one is read.
   *
   * @param check throws if the rows are no longer needed; called for every chunk
   */
  def unpack(
      packed: Array[InternalRow],
      types: Array[DataType],
      codec: CompressionCodec,
      check: () => Unit = () => ()): Iterator[InternalRow] = {
    val chunks = packed.iterator.map { row =>
      check()
      val source = codec.compressedInputStream(new ByteArrayInputStream(row.getBinary(1)))
      try source.readNBytes(row.getInt(0))
      finally source.close()
    }
    RowUnpacker.unpack(chunks, types)
  }

  /** The compression that the application uses for the data that it sends. */
  def codec: CompressionCodec = CompressionCodec.createCodec(SparkEnv.get.conf)
}

/**
 * Some rows, packed and compressed.
 *
 * @param size bytes before compression
 */
final case class PackedChunk(rows: Long, size: Int, bytes: Array[Byte])

/** Packs rows, about a mebibyte at a time, so that several threads can divide the unpacking. */
final class Packing(rows: Iterator[InternalRow], numFields: Int, codec: CompressionCodec)
    extends Iterator[PackedChunk] {
  private val packer = new RowPacker(numFields)

  override def hasNext: Boolean = rows.hasNext

  override def next(): PackedChunk = {
    while (rows.hasNext && packer.size < Packing.MostBytes) add()
    val n = packer.numRows
    val packed = packer.take()
    PackedChunk(n.toLong, packed.length, compressed(packed))
  }

  private def add(): Unit = rows match {
    case batches: BatchedRows =>
      val (batch, first) = (batches.batch, batches.position)
      val n = batch.rowsOf(Packing.MostBytes, first)
      packer.addAll(batch, first, n)
      batches.skip(n)
    case _ => packer.add(rows.next())
  }

  private def compressed(packed: Array[Byte]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = codec.compressedOutputStream(bytes)
    out.write(packed)
    out.close()
    bytes.toByteArray
  }
}

private object Packing {

  /** A chunk ends with the row at which its rows reach this size. */
  private val MostBytes = 1 << 20
}
