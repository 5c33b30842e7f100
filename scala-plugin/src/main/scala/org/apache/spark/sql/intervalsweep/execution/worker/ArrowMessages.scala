// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Objects

import scala.jdk.CollectionConverters._

import org.apache.arrow.flatbuf.{Message, MessageHeader, RecordBatch}
import org.apache.arrow.memory.{ArrowBuf, BufferAllocator}
import org.apache.arrow.vector.{BaseFixedWidthVector, FieldVector, VectorSchemaRoot}
import org.apache.arrow.vector.ipc.ArrowStreamWriter
import org.apache.arrow.vector.ipc.message.MessageSerializer
import org.apache.arrow.vector.types.pojo.{ArrowType, Field, FieldType, Schema}
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.runs.{RunBatch, SweepSize}
import org.apache.spark.unsafe.Platform

/**
 * Writes the endpoints of a block as an Arrow stream: `g` (with keys), then `e0`, `e1`, ... and
 * what is added up of its rows as `m0`, `m1`, ...
 */
final class EndpointWriter(allocator: BufferAllocator, channel: WorkerChannel) {

  /** @param measures a value for each row and measure */
  def write(block: RowBlock, measures: Seq[Array[Long]]): Unit = {
    val root = VectorSchemaRoot.create(schema(block, measures.size), allocator)
    try {
      val writer = new ArrowStreamWriter(root, null, channel)
      writer.start()
      var from = 0
      while (from < block.numRows) {
        val n = math.min(EndpointWriter.BatchRows, block.numRows - from)
        fill(root, block, measures, from, n)
        writer.writeBatch()
        from += n
      }
      writer.end()
    } finally root.close()
  }

  private def schema(block: RowBlock, measures: Int): Schema = {
    val group = Option(block.groups).map(_ => field("g", 32))
    val endpoints = block.endpoints.indices.map(k => field(s"e$k", 64))
    new Schema((group ++ endpoints ++ (0 until measures).map(k => field(s"m$k", 64))).toSeq.asJava)
  }

  private def field(name: String, bits: Int): Field =
    new Field(name, FieldType.notNullable(new ArrowType.Int(bits, true)), null)

  private def fill(
      root: VectorSchemaRoot,
      block: RowBlock,
      measures: Seq[Array[Long]],
      from: Int,
      n: Int): Unit = {
    val vectors = root.getFieldVectors.asScala
    val longs = if (block.groups == null) vectors else vectors.tail
    if (block.groups != null) {
      val offset = Platform.INT_ARRAY_OFFSET + 4L * from
      copy(vectors.head, block.groups, offset, n, 4)
    }
    longs.zip(block.endpoints ++ measures).foreach { case (vector, values) =>
      copy(vector, values, Platform.LONG_ARRAY_OFFSET + 8L * from, n, 8)
    }
    root.setRowCount(n)
  }

  private def copy(vector: FieldVector, values: AnyRef, offset: Long, n: Int, width: Int): Unit = {
    vector.asInstanceOf[BaseFixedWidthVector].allocateNew(n)
    Platform.copyMemory(
      values,
      offset,
      null,
      vector.getDataBuffer.memoryAddress(),
      n.toLong * width)
    allValid(vector.getValidityBuffer, n)
    vector.setValueCount(n)
  }

  private def allValid(bits: ArrowBuf, n: Int): Unit =
    bits.setOne(0, (n + 7L) / 8)
}

object EndpointWriter {
  private val BatchRows = 1 << 16
}

/**
 * Reads batches of runs, or of sums: Arrow streams of one batch, by Arrow's metadata classes but
 * not by its readers. Those believe any length, and wait, or take memory, for what never comes; and
 * they look for values outside of the message where that says so.
 *
 * @param maxRuns the most runs of a batch
 */
final class RunReader(channel: WorkerChannel, maxRuns: Int) {
  private var body = ByteBuffer.allocateDirect(0)

  /**
   * Reads a batch; what was in it before is gone.
   *
   * @param sizes how many boxes and points each sweep has
   * @param sums how many measures are added up in each sweep; None for runs
   */
  def read(into: RunBatch, sizes: Array[SweepSize], sums: Array[Option[Int]]): Unit =
    try {
      into.sweep = Objects.checkIndex(channel.readInt(), sizes.length)
      readStream(into, sums(into.sweep))
      if (!sizes(into.sweep).holds(into)) throw new UnreadableReplyException(
        s"runs that are not within ${sizes(into.sweep)}")
    } catch {
      // What is in the bytes decides at what this stumbles.
      case e: RuntimeException => throw new UnreadableReplyException(s"runs with $e", e)
    }

  private def readStream(into: RunBatch, sums: Option[Int]): Unit = {
    val schema = MessageSerializer.deserializeSchema(readMessage(MessageHeader.Schema))
    require(schema == RunReader.columns(sums.getOrElse(0)), s"the columns $schema")
    val message = readMessage(MessageHeader.RecordBatch)
    val batch = message.header(new RecordBatch).asInstanceOf[RecordBatch]
    into.size = bounded(batch.length, maxRuns, "rows")
    into.reserve(into.size)
    readBody(message.bodyLength, into.size, sums.getOrElse(0))
    val runs = Seq(into.box, into.first, into.count)
    runs.zipWithIndex.foreach { case (values, k) => copy(batch, k, values) }
    into.sums = sums.map { n => Array.tabulate(n)(k => longs(batch, runs.size + k)) }.orNull
    require(readLength() == 0, "more than one batch")
  }

  private def readMessage(kind: Byte): Message = {
    val length = bounded(readLength().toLong, RunReader.MaxMetadata, "bytes of metadata")
    val bytes = ByteBuffer.allocate(length)
    channel.readFully(bytes)
    val message = Message.getRootAsMessage(bytes)
    require(message.headerType == kind, s"a message of type ${message.headerType}")
    message
  }

  /** The length of a message's metadata; 0 ends the stream. */
  private def readLength(): Int = {
    val mark = channel.readInt()
    require(mark == MessageSerializer.IPC_CONTINUATION_TOKEN, s"the mark $mark")
    Integer.reverseBytes(channel.readInt())
  }

  private def readBody(length: Long, runs: Int, sums: Int): Unit = {
    val most = RunReader.Fields.size * (4L * runs + RunReader.MaxPadding) +
      sums * (8L * runs + RunReader.MaxPadding)
    val bytes = bounded(length, most, s"bytes of $runs rows")
    if (body.capacity < bytes) body = ByteBuffer.allocateDirect(bytes)
    channel.readFully(body.clear().limit(bytes))
  }

  /** Copies a column. Each has two buffers, the first of which would say what is NULL. */
  private def copy(batch: RecordBatch, column: Int, into: Array[Int]): Unit = {
    val n = batch.length.toInt
    values(batch, column, 4 * n).asIntBuffer().get(into, 0, n)
  }

  private def longs(batch: RecordBatch, column: Int): Array[Long] = {
    val into = new Array[Long](batch.length.toInt)
    values(batch, column, 8 * into.length).asLongBuffer().get(into)
    into
  }

  private def values(batch: RecordBatch, column: Int, bytes: Int): ByteBuffer = {
    val from = math.toIntExact(batch.buffers(2 * column + 1).offset)
    body.slice(from, bytes).order(ByteOrder.LITTLE_ENDIAN)
  }

  private def bounded(number: Long, most: Long, what: String): Int = {
    require(number >= 0 && number <= most, s"$number $what")
    number.toInt
  }
}

object RunReader {
  private val Fields = Seq("box", "first", "count")

  private def columns(sums: Int): Schema = new Schema(
    (Fields.map(field(_, 32)) ++ (0 until sums).map(k => field(s"s$k", 64))).asJava)

  private def field(name: String, bits: Int): Field =
    Field.nullable(name, new ArrowType.Int(bits, true))

  /** The metadata of a few columns take some hundred bytes. */
  private val MaxMetadata = 1L << 16

  /** Writers of Arrow may fill up each buffer to a multiple of as many bytes. */
  private val MaxPadding = 64
}
