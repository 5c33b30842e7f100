package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.unsafe.Platform

/**
 * Broadcasts rows packed into a few long ones.
 *
 * Spark's broadcast exchange sends an array of rows, each of which Java serialises as an object of
 * its own: for a million small rows that takes longer than the join. Here the array has one row for
 * every few mebibytes, with a single binary field that holds rows one after the other:
 * a 64-bit length, then the row's bytes.
 */
case object PackedRows extends BroadcastMode {
  private val FirstBytes = 64 << 10
  private val MostBytes = 16 << 20

  override def canonicalized: BroadcastMode = this

  override def transform(rows: Array[InternalRow]): Array[InternalRow] =
    transform(rows.iterator, None)

  override def transform(
      rows: Iterator[InternalRow],
      sizeHint: Option[Long]): Array[InternalRow] = {
    val packed = Array.newBuilder[InternalRow]
    var chunk = new PackedChunk(FirstBytes)
    rows.map(_.asInstanceOf[UnsafeRow]).foreach { row =>
      if (!chunk.hasRoom(row)) {
        packed += chunk.packed
        val larger = math.min(2 * chunk.capacity, MostBytes)
        chunk = new PackedChunk(math.max(larger, row.getSizeInBytes + 8))
      }
      chunk.add(row)
    }
    if (!chunk.isEmpty) packed += chunk.packed
    packed.result()
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
      val size = Platform.getLong(base, at).toInt
      row.pointTo(base, at + 8, size)
      at += 8 + size
      row
    }
  }
}

/** A row in the making, of one binary field that holds up to `capacity` bytes. */
private final class PackedChunk(val capacity: Int) {
  // The bits of the NULLs, then offset and size of the field, then what is in it.
  private val header = UnsafeRow.calculateBitSetWidthInBytes(1) + 8
  private val bytes = new Array[Byte](header + capacity)
  private var size = 0

  def isEmpty: Boolean = size == 0

  def hasRoom(row: UnsafeRow): Boolean = size + 8L + row.getSizeInBytes <= capacity

  def add(row: UnsafeRow): Unit = {
    val at = Platform.BYTE_ARRAY_OFFSET + header + size
    Platform.putLong(bytes, at, row.getSizeInBytes.toLong)
    row.writeToMemory(bytes, at + 8L)
    size += 8 + row.getSizeInBytes
  }

  def packed: UnsafeRow = {
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + header - 8L, header.toLong << 32 | size)
    // Rows are sent over the wire as they are: without what was not used.
    val row = new UnsafeRow(1)
    row.pointTo(java.util.Arrays.copyOf(bytes, header + size), header + size)
    row
  }
}
