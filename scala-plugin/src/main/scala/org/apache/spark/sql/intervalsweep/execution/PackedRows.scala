// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, OutputStream}

import org.apache.spark.SparkEnv
import org.apache.spark.io.CompressionCodec
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastMode, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType}
import org.apache.spark.unsafe.Platform

/**
 * Broadcasts rows packed into a few long ones, by the tasks that read them: [[PackedRowsExec]].
 *
 * Spark's broadcast exchange sends an array of rows, each of which Java serialises as an object of
 * its own: for a million small rows that takes longer than the join. Here the array has one row for
 * every few mebibytes: how many bytes are packed, and these bytes, compressed. They are rows one
 * after the other, each behind its length of 64 bits. The driver passes them on as they come.
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

  /** The rows that were packed; each is valid until the next one. */
  def unpack(
      packed: Array[InternalRow],
      numFields: Int,
      codec: CompressionCodec): Iterator[UnsafeRow] =
    packed.iterator.flatMap { row =>
      val source = codec.compressedInputStream(new ByteArrayInputStream(row.getBinary(1)))
      try new Unpacked(source.readNBytes(row.getInt(0)), numFields)
      finally source.close()
    }

  /** How the application compresses what it sends. */
  def codec: CompressionCodec = CompressionCodec.createCodec(SparkEnv.get.conf)

  private final class Unpacked(bytes: Array[Byte], numFields: Int) extends Iterator[UnsafeRow] {
    private val row = new UnsafeRow(numFields)
    private var at = 0

    override def hasNext: Boolean = at < bytes.length

    override def next(): UnsafeRow = {
      val size = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + at).toInt
      row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + at + 8L, size)
      at += 8 + size
      row
    }
  }
}

/**
 * What a broadcast of [[PackedRows]] collects from: it packs the rows of its child where they are.
 * Only the exchange asks a plan for its rows in this way; the node passes them on as they are to
 * whoever else asks.
 */
case class PackedRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "PackedRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override protected def doExecute(): RDD[InternalRow] = child.execute()

  /** The number of the child's rows, and the rows packed. */
  override def executeCollectIterator(): (Long, Iterator[InternalRow]) = {
    val chunks = child.execute().mapPartitions(new Packing(_, PackedRows.codec)).collect()
    (chunks.map(_.rows).sum, PackedRows.of(chunks.iterator))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackedRowsExec =
    copy(child = newChild)
}

/**
 * Some rows, packed and compressed.
 *
 * @param size of the bytes before they were compressed
 */
final case class PackedChunk(rows: Long, size: Int, bytes: Array[Byte])

/** Packs rows, a few mebibytes at a time. */
final class Packing(rows: Iterator[InternalRow], codec: CompressionCodec)
    extends Iterator[PackedChunk] {
  private val header = new Array[Byte](8)
  private val buffer = new Array[Byte](4 << 10)

  override def hasNext: Boolean = rows.hasNext

  override def next(): PackedChunk = {
    val bytes = new ByteArrayOutputStream
    val out = codec.compressedOutputStream(bytes)
    var n = 0L
    var size = 0L
    while (rows.hasNext && size < Packing.MostBytes) {
      val row = rows.next().asInstanceOf[UnsafeRow]
      add(row, out)
      n += 1
      size += 8 + row.getSizeInBytes
    }
    out.close()
    PackedChunk(n, math.toIntExact(size), bytes.toByteArray)
  }

  private def add(row: UnsafeRow, out: OutputStream): Unit = {
    Platform.putLong(header, Platform.BYTE_ARRAY_OFFSET, row.getSizeInBytes.toLong)
    out.write(header)
    row.writeToStream(out, buffer)
  }
}

private object Packing {

  /** A chunk ends behind the row with which it reaches as many bytes. */
  private val MostBytes = 16 << 20
}
