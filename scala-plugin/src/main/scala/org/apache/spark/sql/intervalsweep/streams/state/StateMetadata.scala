// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * The values that a state partition stores apart from its rows:
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
      Seq(run.id, run.slot, run.rows, run.bytes, run.first, run.last, run.minTime, run.maxTime)
        .foreach(out.writeLong)
    }
    bytes.toByteArray
  }
}

private[state] object StateMetadata {

  /** The format of metadata and rows. A state of another format is refused. */
  val Format = 2

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
    val (id, slot, rows, bytes) = (in.readLong(), in.readLong(), in.readLong(), in.readLong())
    val (first, last) = (in.readLong(), in.readLong())
    StoredRun(
      side,
      id,
      slot,
      rows,
      bytes,
      first,
      last,
      in.readLong(),
      in.readLong(),
      parts,
      attached)
  }
}
