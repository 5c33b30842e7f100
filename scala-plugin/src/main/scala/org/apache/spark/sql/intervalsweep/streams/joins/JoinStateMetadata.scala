// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import java.nio.ByteBuffer

import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.state.JoinStateIdentity

/**
 * Rows that were stored together, sorted by key and endpoint. The rows of a sorted run never
 * change. Match counts and the set of rows that are done, if the join needs them, are stored
 * separately.
 *
 * @param id    a random number, so that two attempts at one micro-batch do not share it
 * @param first no row that is not done expires before this
 * @param last  no row that is not done expires after this
 */
final case class SortedRun(side: Side, id: Long, rows: Int, bytes: Int, first: Long, last: Long)

object SortedRun {
  private[streams] def newId(): Long =
    java.util.concurrent.ThreadLocalRandom.current().nextLong()
}

/**
 * The stored metadata of a partition.
 *
 * @param latest for each side the largest number of its rows, in a join by row numbers
 * @param timer  when Spark calls the partition although no row has arrived; 0: never
 */
final case class JoinStateMetadata(
    storedRuns: Seq[SortedRun],
    latest: Map[Side, Long],
    timer: Long) {

  def rows: Long = storedRuns.iterator.map(_.rows.toLong).sum

  /** The watermark of the last micro-batch, in milliseconds. The timer fires when it moves. */
  def watermark: Option[Long] = Option.when(timer != 0)(timer - 1)
}

object JoinStateMetadata {
  val Empty: JoinStateMetadata =
    JoinStateMetadata(Nil, Map(LeftSide -> Long.MinValue, RightSide -> Long.MinValue), timer = 0)

  def toBytes(head: JoinStateMetadata, written: JoinStateIdentity): Array[Byte] = {
    val buffer = ByteBuffer.allocate(36 + 33 * head.storedRuns.size + written.packed.length)
    buffer.putInt(JoinStateIdentity.Format).putInt(written.hash)
    buffer.putLong(head.latest(LeftSide)).putLong(head.latest(RightSide)).putLong(head.timer)
    buffer.putInt(head.storedRuns.size)
    head.storedRuns.foreach { p =>
      buffer.put(if (p.side == LeftSide) 0.toByte else 1.toByte)
      buffer.putLong(p.id).putInt(p.rows).putInt(p.bytes).putLong(p.first).putLong(p.last)
    }
    buffer.put(written.packed)
    buffer.array()
  }

  /** The metadata, and the identity of the join that wrote it. */
  def read(bytes: Array[Byte]): (JoinStateMetadata, JoinStateIdentity) = {
    val buffer = ByteBuffer.wrap(bytes)
    val format = buffer.getInt()
    JoinStateIdentity.checkFormat(format)
    val hash = buffer.getInt()
    val latest = Map[Side, Long](LeftSide -> buffer.getLong(), RightSide -> buffer.getLong())
    val timer = buffer.getLong()
    val storedRuns = Seq.fill(buffer.getInt()) {
      val side = if (buffer.get() == 0) LeftSide else RightSide
      SortedRun(
        side,
        buffer.getLong(),
        buffer.getInt(),
        buffer.getInt(),
        buffer.getLong(),
        buffer.getLong())
    }
    JoinStateMetadata(storedRuns, latest, timer) -> JoinStateIdentity.read(format, hash, buffer)
  }
}
