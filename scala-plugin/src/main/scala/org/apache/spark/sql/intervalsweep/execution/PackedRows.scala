package org.apache.spark.sql.intervalsweep.execution

import java.io.{ByteArrayOutputStream, DataOutputStream}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.unsafe.Platform

/**
 * Broadcasts rows packed into a few long ones.
 *
 * Spark's broadcast exchange sends an array of rows, each of which Java serialises as an object of
 * its own: for a million small rows that takes longer than the join. Here the array has one row for
 * every [[PackedRows.ChunkBytes]], with a single binary field that holds rows one after the other:
 * a 64-bit length, then the row's bytes.
 */
case object PackedRows extends BroadcastMode {
  private val ChunkBytes = 16 << 20

  override def canonicalized: BroadcastMode = this

  override def transform(rows: Array[InternalRow]): Array[InternalRow] =
    transform(rows.iterator, None)

  override def transform(
      rows: Iterator[InternalRow],
      sizeHint: Option[Long]): Array[InternalRow] = {
    val packed = Array.newBuilder[InternalRow]
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    val buffer = new Array[Byte](1 << 12)
    def close(): Unit = if (bytes.size > 0) {
      packed += oneField(bytes.toByteArray)
      bytes.reset()
    }
    rows.map(_.asInstanceOf[UnsafeRow]).foreach { row =>
      out.writeLong(row.getSizeInBytes.toLong)
      row.writeToStream(out, buffer)
      if (bytes.size >= ChunkBytes) close()
    }
    close()
    packed.result()
  }

  private def oneField(bytes: Array[Byte]): UnsafeRow = {
    val writer = new UnsafeRowWriter(1, bytes.length)
    writer.reset()
    writer.write(0, bytes)
    writer.getRow.copy()
  }

  /** The rows that were packed; each is valid until the next one. */
  def unpack(packed: Array[InternalRow], numFields: Int): Iterator[UnsafeRow] =
    packed.iterator.flatMap(row => new Chunk(row.asInstanceOf[UnsafeRow], numFields))

  private final class Chunk(packed: UnsafeRow, numFields: Int) extends Iterator[UnsafeRow] {
    private val row = new UnsafeRow(numFields)
    private val (base, end, start) = {
      val place = packed.getLong(0) // offset and size of the binary field
      val first = packed.getBaseOffset + (place >>> 32)
      (packed.getBaseObject, first + place.toInt, first)
    }
    private var at = start

    override def hasNext: Boolean = at < end

    override def next(): UnsafeRow = {
      // DataOutputStream writes the high byte first.
      val size = java.lang.Long.reverseBytes(Platform.getLong(base, at)).toInt
      row.pointTo(base, at + 8, size)
      at += 8 + size
      row
    }
  }
}
