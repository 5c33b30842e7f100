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
 * Broadcasts rows packed into a few long ones, by the tasks that read them: [[PackedRowsExec]].
 *
 * Spark's broadcast exchange sends an array of rows, each of which Java serialises as an object of
 * its own: for a million small rows that takes longer than the join. Here the array has one row for
 * every mebibyte: how many bytes a [[RowPacker]] has made of some rows, and these bytes, compressed.
 * The driver passes them on as they come.
 */
case object PackedRows extends BroadcastMode {
  private val types = Array[DataType](IntegerType, BinaryType)

  override def canonicalized: BroadcastMode = this

  override def transform(rows: Array[InternalRow]): Array[InternalRow] = rows

  override def transform(
      rows: Iterator[InternalRow],
      sizeHint: Option[Long]): Array[InternalRow] = rows.toArray

  /** Rows that the exchange has the size of, and that Java serialises as one array each. */
  def of(chunks: Iterator[PackedChunk]): Iterator[InternalRow] = {
    val project = UnsafeProjection.create(types)
    chunks.map(chunk => project(InternalRow(chunk.size, chunk.bytes)).copy())
  }

  /**
   * The rows that were packed; each is valid until the next one.
   *
   * @param check fails if it is all in vain; asked with every chunk
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

  /** How the application compresses what it sends. */
  def codec: CompressionCodec = CompressionCodec.createCodec(SparkEnv.get.conf)
}

/**
 * Some rows, packed and compressed.
 *
 * @param size of the bytes before they were compressed
 */
final case class PackedChunk(rows: Long, size: Int, bytes: Array[Byte])

/** Packs rows, about a mebibyte at a time: the tasks that unpack them share them out. */
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

  /** A chunk ends behind the row with which its rows reach as many bytes. */
  private val MostBytes = 1 << 20
}
