// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.types.DataType

/**
 * The layout of a partition's state.
 *
 * @param types        the types of the columns of each side's rows
 * @param bucketMicros the width of a time bucket, in microseconds
 * @param fingerprint  the properties of the query that the state depends on, by name. A checkpoint
 *                     of another query is refused, and the error names the property that differs
 * @param fewer        for a stored fingerprint: the row layout, if the state is from the same query
 *                     with fewer columns and can be migrated
 */
case class StateLayout(
    types: Seq[Array[DataType]],
    bucketMicros: Long,
    fingerprint: Seq[(String, String)],
    fewer: Seq[(String, String)] => Option[WindowSchemaEvolution] = _ => None)

/**
 * The stored metadata of a partition.
 *
 * @param watermark the watermark of the last micro-batch, in milliseconds
 * @param timer     the registered timer
 * @param level     the level of the buckets that the next micro-batch starts with
 */
private[streams] case class WindowStateMetadata(
    watermark: Long,
    timer: Long,
    level: Int,
    bucketMicros: Long,
    fingerprint: Seq[(String, String)],
    buckets: Seq[TimeBucket]) {

  def toBytes: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeByte(WindowStateMetadata.Format)
    out.writeLong(watermark)
    out.writeLong(timer)
    out.writeByte(level)
    out.writeLong(bucketMicros)
    out.writeInt(fingerprint.size)
    fingerprint.foreach { case (name, text) =>
      Seq(name, text).foreach(WindowStateMetadata.write(out, _))
    }
    out.writeInt(buckets.size)
    buckets.foreach { s =>
      out.writeByte(s.side)
      out.writeByte(s.id.level)
      Seq(s.id.number, s.rows, s.minTime, s.maxTime).foreach(out.writeLong)
      out.writeByte(if (s.hasSummary) s.parts | WindowStateMetadata.HasSummary else s.parts)
    }
    bytes.toByteArray
  }
}

private[streams] object WindowStateMetadata {
  val NoTimer: Long = -1

  /** A flag in the byte with a bucket's number of parts. */
  private val HasSummary = 0x80

  /** The format of the metadata. A state of another format is refused. */
  private val Format = 1

  private def write(out: DataOutputStream, text: String): Unit = {
    val bytes = text.getBytes("UTF-8")
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def readText(in: DataInputStream): String =
    new String(in.readNBytes(in.readInt()), "UTF-8")

  def read(bytes: Array[Byte]): WindowStateMetadata = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    val format = in.readByte()
    if (format != Format) StreamErrors.stateFormat(format.toInt, Format)
    val (watermark, timer) = (in.readLong(), in.readLong())
    val (level, width) = (in.readByte().toInt, in.readLong())
    val fingerprint = Seq.fill(in.readInt())((readText(in), readText(in)))
    val buckets = Seq.fill(in.readInt()) {
      val (side, bucketLevel) = (in.readByte().toInt, in.readByte().toInt)
      val bucket = new TimeBucket(side, TimeBucketId(in.readLong(), bucketLevel))
      bucket.rows = in.readLong()
      bucket.minTime = in.readLong()
      bucket.maxTime = in.readLong()
      val parts = in.readUnsignedByte()
      bucket.parts = parts & ~WindowStateMetadata.HasSummary
      bucket.hasSummary = (parts & WindowStateMetadata.HasSummary) != 0
      bucket
    }
    WindowStateMetadata(watermark, timer, level, width, fingerprint, buckets)
  }

  /** Fails if another query wrote the state. */
  def check(written: Seq[(String, String)], wanted: Seq[(String, String)]): Unit =
    for ((name, now) <- wanted; before = written.toMap.getOrElse(name, "nothing"))
      if (before != now) StreamErrors.stateMismatch(name, before, now)
}
