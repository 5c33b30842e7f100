// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * Rows of one side that are stored together.
 *
 * @param id       the key of the values of the run in a [[RunStore]]; its lowest five bits are 0
 * @param bytes    the size of the rows in memory
 * @param first    no live row expires before this time, in microseconds (or row number)
 * @param last     no live row expires after this time
 * @param minTime  the least event time of the rows, in microseconds, if the operator needs it
 * @param maxTime  the greatest event time
 * @param parts    the number of chunks in which the rows are stored
 * @param attached which [[Attachment]]s are stored: a set of bits
 */
final case class StoredRun(
    side: Side,
    id: Long,
    rows: Long,
    bytes: Long,
    first: Long,
    last: Long,
    minTime: Long = Long.MaxValue,
    maxTime: Long = Long.MinValue,
    parts: Int = 0,
    attached: Int = 0) {
  def has(attachment: Attachment): Boolean = (attached & attachment.bit) != 0
}

object StoredRun {

  /** A random id: two attempts at one micro-batch, and two queries, do not share it. */
  private[state] def newId(): Long =
    java.util.concurrent.ThreadLocalRandom.current().nextLong() & ~RunStore.MostValues.toLong
}

/** A value that is stored beside the rows of a run. */
sealed abstract class Attachment(private[state] val number: Int) {
  private[state] def bit: Int = 1 << number
}

object Attachment {

  /** The set of rows that are done: matched, emitted as unmatched, or replaced by a later row. */
  case object Done extends Attachment(0)

  /** The number of matches of each row. */
  case object MatchCounts extends Attachment(1)

  /** The aggregates of the rows by key. */
  case object Summary extends Attachment(2)
}

/**
 * What a state partition stores beside its rows:
 * {{{
 *   format BYTE | identity | partitions | watermark | values of the operator | runs
 * }}}
 *
 * @param partitions the number of state partitions
 * @param watermark  the watermark of the last micro-batch, in milliseconds. None before the first
 *                   micro-batch, and in operators without event time
 * @param values     numbers that the operator keeps from one micro-batch to the next
 */
final case class StateMetadata(
    identity: StateIdentity,
    partitions: Int,
    watermark: Option[Long],
    values: Seq[Long],
    runs: Seq[StoredRun]) {

  def rows: Long = runs.iterator.map(_.rows).sum

  private[state] def toBytes: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeByte(StateMetadata.Format)
    identity.write(out)
    out.writeInt(partitions)
    out.writeBoolean(watermark.isDefined)
    out.writeLong(watermark.getOrElse(0L))
    out.writeByte(values.size)
    values.foreach(out.writeLong)
    out.writeInt(runs.size)
    runs.foreach { run =>
      Seq(run.side.number, run.parts, run.attached).foreach(out.writeByte)
      Seq(run.id, run.rows, run.bytes, run.first, run.last, run.minTime, run.maxTime)
        .foreach(out.writeLong)
    }
    bytes.toByteArray
  }
}

private[state] object StateMetadata {

  /** The format of metadata and rows. A state of another format is refused. */
  val Format = 1

  def read(bytes: Array[Byte]): StateMetadata = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    val format = in.readByte().toInt
    if (format != Format) StreamErrors.stateFormat(format, Format)
    val identity = StateIdentity.read(in)
    val partitions = in.readInt()
    val hasWatermark = in.readBoolean()
    val watermark = in.readLong()
    val values = Seq.fill(in.readByte().toInt)(in.readLong())
    val runs = Seq.fill(in.readInt())(readRun(in))
    StateMetadata(identity, partitions, Option.when(hasWatermark)(watermark), values, runs)
  }

  private def readRun(in: DataInputStream): StoredRun = {
    val (side, parts, attached) =
      (Side.all(in.readByte().toInt), in.readByte().toInt, in.readByte().toInt)
    val (id, rows, bytes) = (in.readLong(), in.readLong(), in.readLong())
    val (first, last) = (in.readLong(), in.readLong())
    StoredRun(side, id, rows, bytes, first, last, in.readLong(), in.readLong(), parts, attached)
  }
}
