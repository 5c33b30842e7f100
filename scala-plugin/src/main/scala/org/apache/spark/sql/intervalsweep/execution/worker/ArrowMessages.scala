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
 * Writes rows as an Arrow stream. Column `g` is the number of a row's group, if there are groups.
 * All other columns are LONGs.
 */
final class ColumnWriter(allocator: BufferAllocator, channel: WorkerChannel) {

  /**
   * Writes the endpoints of a block, `e0`, `e1`, ..., and the measures to be summed, `m0`, `m1`,
   * ...
   */
  def write(block: RowBlock, measures: Seq[Array[Long]]): Unit = {
    val endpoints = block.endpoints.zipWithIndex.map { case (values, k) => s"e$k" -> values }
    val added = measures.zipWithIndex.map { case (values, k) => s"m$k" -> values }
    write(block.groups, (endpoints ++ added).toSeq, 0, block.numRows)
  }

  /**
   * @param groups the group numbers; null without groups
   * @param columns names and values
   * @param first the first row to write
   * @param end the row behind the last one
   */
  def write(
      groups: Array[Int],
      columns: Seq[(String, Array[Long])],
      first: Int,
      end: Int): Unit = {
    val root = VectorSchemaRoot.create(schema(groups != null, columns.map(_._1)), allocator)
    try {
      val writer = new ArrowStreamWriter(root, null, channel)
      writer.start()
      var from = first
      while (from < end) {
        val rows = math.min(ColumnWriter.BatchRows, end - from)
        fill(root, groups, columns.map(_._2), from, rows)
        writer.writeBatch()
        from += rows
      }
      writer.end()
    } finally root.close()
  }

  private def schema(isGrouped: Boolean, names: Seq[String]): Schema =
    new Schema((Option.when(isGrouped)(field("g", 32)) ++ names.map(field(_, 64))).toSeq.asJava)

  private def field(name: String, bits: Int): Field =
    new Field(name, FieldType.notNullable(new ArrowType.Int(bits, true)), null)

  private def fill(
      root: VectorSchemaRoot,
      groups: Array[Int],
      columns: Seq[Array[Long]],
      from: Int,
      n: Int): Unit = {
    val vectors = root.getFieldVectors.asScala
    val longs = if (groups == null) vectors else vectors.tail
    if (groups != null)
      copy(vectors.head, groups, Platform.INT_ARRAY_OFFSET + 4L * from, n, 4)
    longs.zip(columns).foreach { case (vector, values) =>
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

object ColumnWriter {
  private val BatchRows = 1 << 16
}

/**
 * Reads Arrow streams of one batch. It uses Arrow's metadata classes, but not Arrow's readers.
 * Those trust any length, and wait or allocate memory for bytes that never come. If a message says
 * so, they even look for values outside of it.
 *
 * @param maxRows the most rows of a batch
 */
sealed abstract class BatchReader(channel: WorkerChannel, maxRows: Int) {
  private var body = ByteBuffer.allocateDirect(0)
  private var batch: RecordBatch = _

  /** Turns any exception that the bytes cause into an error that says what was unreadable. */
  protected def readable[T](what: String)(read: => T): T =
    try read
    catch {
      case e: RuntimeException => throw new UnreadableReplyException(s"$what with $e", e)
    }

  /**
   * Reads a batch with these columns. [[ints]] and [[longs]] then return its values.
   *
   * @return the number of rows
   */
  protected def readBatch(columns: Schema): Int = {
    val schema = MessageSerializer.deserializeSchema(readMessage(MessageHeader.Schema))
    require(schema == columns, s"the columns $schema")
    val message = readMessage(MessageHeader.RecordBatch)
    batch = message.header(new RecordBatch).asInstanceOf[RecordBatch]
    val rows = bounded(batch.length, maxRows, "rows")
    readBody(message.bodyLength, rows, columns)
    require(readLength() == 0, "more than one batch")
    rows
  }

  private def readMessage(kind: Byte): Message = {
    val length = bounded(readLength().toLong, BatchReader.MaxMetadata, "bytes of metadata")
    val bytes = ByteBuffer.allocate(length)
    channel.readFully(bytes)
    val message = Message.getRootAsMessage(bytes)
    require(message.headerType == kind, s"a message of type ${message.headerType}")
    message
  }

  /** Reads the length of a message's metadata. 0 ends the stream. */
  private def readLength(): Int = {
    val mark = channel.readInt()
    require(mark == MessageSerializer.IPC_CONTINUATION_TOKEN, s"the mark $mark")
    Integer.reverseBytes(channel.readInt())
  }

  private def readBody(length: Long, rows: Int, columns: Schema): Unit = {
    val most = columns.getFields.asScala.map { field =>
      val bits = field.getType.asInstanceOf[ArrowType.Int].getBitWidth
      bits / 8 * rows.toLong + BatchReader.MaxPadding
    }.sum
    val bytes = bounded(length, most, s"bytes of $rows rows")
    if (body.capacity < bytes) body = ByteBuffer.allocateDirect(bytes)
    channel.readFully(body.clear().limit(bytes))
  }

  protected def ints(column: Int, into: Array[Int]): Unit = {
    val n = batch.length.toInt
    values(column, 4 * n).asIntBuffer().get(into, 0, n)
  }

  protected def longs(column: Int, into: Array[Long]): Unit = {
    val n = batch.length.toInt
    values(column, 8 * n).asLongBuffer().get(into, 0, n)
  }

  /**
   * The values of a column. Each column has two buffers, and the first one, for NULLs, is not read.
   */
  private def values(column: Int, bytes: Int): ByteBuffer = {
    val from = math.toIntExact(batch.buffers(2 * column + 1).offset)
    body.slice(from, bytes).order(ByteOrder.LITTLE_ENDIAN)
  }

  private def bounded(number: Long, most: Long, what: String): Int = {
    require(number >= 0 && number <= most, s"$number $what")
    number.toInt
  }
}

private object BatchReader {

  /** The metadata of a few columns take some hundred bytes. */
  private val MaxMetadata = 1L << 16

  /** Arrow writers may pad each buffer to a multiple of this number of bytes. */
  private val MaxPadding = 64

  def schema(ints: Seq[String], longs: Seq[String]): Schema =
    new Schema((ints.map(field(_, 32)) ++ longs.map(field(_, 64))).asJava)

  private def field(name: String, bits: Int): Field =
    Field.nullable(name, new ArrowType.Int(bits, true))
}

/**
 * Reads batches of runs, or of sums.
 *
 * @param maxRuns the most runs of a batch
 */
final class RunReader(channel: WorkerChannel, maxRuns: Int) extends BatchReader(channel, maxRuns) {

  /**
   * Reads a batch, and replaces the contents of `into`.
   *
   * @param sizes the number of boxes and points of each sweep
   * @param sums the number of measures that are summed in each sweep; None if it returns runs
   */
  def read(into: RunBatch, sizes: Array[SweepSize], sums: Array[Option[Int]]): Unit =
    readable("runs") {
      into.sweep = Objects.checkIndex(channel.readInt(), sizes.length)
      readRuns(into, sums(into.sweep))
      if (!sizes(into.sweep).holds(into)) throw new UnreadableReplyException(
        s"runs that are not within ${sizes(into.sweep)}")
    }

  private def readRuns(into: RunBatch, sums: Option[Int]): Unit = {
    into.size = readBatch(RunReader.columns(sums.getOrElse(0)))
    into.reserve(into.size)
    Seq(into.box, into.first, into.count).zipWithIndex.foreach { case (v, k) => ints(k, v) }
    into.sums = sums.map { n =>
      Array.tabulate(n) { k =>
        val values = new Array[Long](into.size)
        longs(RunReader.Fields.size + k, values)
        values
      }
    }.orNull
  }
}

private object RunReader {
  private val Fields = Seq("box", "first", "count")

  private def columns(sums: Int): Schema =
    BatchReader.schema(Fields, (0 until sums).map(k => s"s$k"))
}

/**
 * Reads batches of periods. A period has a row of its group (-1 for the group that continues from
 * the previous request), its start, its end, and further LONGs.
 *
 * @param numbers the number of further LONGs
 */
final class PeriodReader(channel: WorkerChannel, maxRows: Int, numbers: Int)
    extends BatchReader(channel, maxRows) {
  private val columns =
    BatchReader.schema(Seq("row"), Seq("start", "end") ++ (0 until numbers).map(k => s"s$k"))

  var size = 0
  val row = new Array[Int](maxRows)
  val start = new Array[Long](maxRows)
  val end = new Array[Long](maxRows)
  val values: Array[Array[Long]] = Array.fill(numbers)(new Array[Long](maxRows))

  /** @param rows the number of rows that the worker was asked about */
  def read(rows: Int): Unit = readable("periods") {
    size = readBatch(columns)
    ints(0, row)
    longs(1, start)
    longs(2, end)
    values.zipWithIndex.foreach { case (into, k) => longs(3 + k, into) }
    var i = 0
    while (i < size) {
      if (row(i) < -1 || row(i) >= rows || start(i) >= end(i))
        throw new UnreadableReplyException(
          s"a period [${start(i)}, ${end(i)}) of row ${row(i)} of $rows")
      i += 1
    }
  }
}
