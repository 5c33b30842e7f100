package org.apache.spark.sql.intervalsweep.execution

import scala.jdk.CollectionConverters._

import org.apache.arrow.memory.{ArrowBuf, BufferAllocator}
import org.apache.arrow.vector.{
  BaseFixedWidthVector, BitVectorHelper, FieldVector, IntVector, VectorSchemaRoot
}
import org.apache.arrow.vector.ipc.{ArrowStreamReader, ArrowStreamWriter}
import org.apache.arrow.vector.types.pojo.{ArrowType, Field, FieldType, Schema}
import org.apache.spark.unsafe.Platform

/** Writes the endpoints of a block as an Arrow stream: `g` (with keys), then `e0`, `e1`, ... */
final class EndpointWriter(allocator: BufferAllocator, channel: WorkerChannel) {

  def write(block: RowBlock): Unit = {
    val root = VectorSchemaRoot.create(schema(block), allocator)
    try {
      val writer = new ArrowStreamWriter(root, null, channel)
      writer.start()
      var from = 0
      while (from < block.numRows) {
        val n = math.min(EndpointWriter.BatchRows, block.numRows - from)
        fill(root, block, from, n)
        writer.writeBatch()
        from += n
      }
      writer.end()
    } finally root.close()
  }

  private def schema(block: RowBlock): Schema = {
    val group = Option(block.groups).map(_ => field("g", 32))
    new Schema((group ++ block.endpoints.indices.map(k => field(s"e$k", 64))).asJava)
  }

  private def field(name: String, bits: Int): Field =
    new Field(name, FieldType.notNullable(new ArrowType.Int(bits, true)), null)

  private def fill(root: VectorSchemaRoot, block: RowBlock, from: Int, n: Int): Unit = {
    val vectors = root.getFieldVectors.asScala
    val endpoints = if (block.groups == null) vectors else vectors.tail
    if (block.groups != null) {
      val offset = Platform.INT_ARRAY_OFFSET + 4L * from
      copy(vectors.head, block.groups, offset, n, 4)
    }
    endpoints.zip(block.endpoints).foreach { case (vector, values) =>
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
    bits.setOne(0, BitVectorHelper.getValidityBufferSizeFromCount(n).toLong)
}

object EndpointWriter {
  private val BatchRows = 1 << 16
}

/** Reads batches of runs. */
final class RunReader(allocator: BufferAllocator, channel: WorkerChannel) {

  /** Reads a batch; what was in it before is gone. */
  def read(into: RunBatch): Unit =
    try readStream(into)
    catch {
      // What is in the bytes decides at what Arrow stumbles.
      case e: RuntimeException => throw new UnreadableReplyException(s"runs with $e", e)
    }

  private def readStream(into: RunBatch): Unit = {
    into.sweep = channel.readInt()
    into.size = 0
    val reader = new ArrowStreamReader(channel, allocator)
    try {
      if (reader.loadNextBatch()) {
        val root = reader.getVectorSchemaRoot
        into.reserve(root.getRowCount)
        into.size = root.getRowCount
        copy(root, "box", into.box)
        copy(root, "first", into.first)
        copy(root, "count", into.count)
        while (reader.loadNextBatch()) {}
      }
    } finally reader.close(false)
  }

  private def copy(root: VectorSchemaRoot, name: String, values: Array[Int]): Unit = {
    val vector = root.getVector(name).asInstanceOf[IntVector]
    val address = vector.getDataBuffer.memoryAddress()
    val bytes = 4L * root.getRowCount
    Platform.copyMemory(null, address, values, Platform.INT_ARRAY_OFFSET, bytes)
  }
}
