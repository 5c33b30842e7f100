// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.state.{
  EarlierRows, IndexedRows, JoinFingerprint, RowBytes, RowFields
}
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig, ValueState}

/**
 * Rows that were stored together, in order of key and endpoint. The part never changes; what changes
 * is which of its rows are done, if that is kept.
 *
 * @param id     a random number, so that two attempts at one batch do not share it
 * @param first  no row that is not done expires before that
 * @param last   nor after that
 */
final case class Part(side: Side, id: Long, rows: Int, bytes: Int, first: Long, last: Long)

object Part {
  private[streams] def newId(): Long =
    java.util.concurrent.ThreadLocalRandom.current().nextLong()
}

/**
 * What a slot keeps besides rows.
 *
 * @param latest for each side the largest number of its rows, where they come by a number
 * @param timer  when the slot is to be called although no row has come; 0: never
 */
final case class SlotHead(parts: Seq[Part], latest: Map[Side, Long], timer: Long) {

  def rows: Long = parts.iterator.map(_.rows.toLong).sum

  /** Of the last micro-batch, in milliseconds: a timer calls as soon as it moves. */
  def watermark: Option[Long] = Option.when(timer != 0)(timer - 1)
}

object SlotHead {
  val Empty: SlotHead =
    SlotHead(Nil, Map(LeftSide -> Long.MinValue, RightSide -> Long.MinValue), timer = 0)

  def toBytes(head: SlotHead, written: JoinFingerprint): Array[Byte] = {
    val buffer = ByteBuffer.allocate(36 + 33 * head.parts.size + written.packed.length)
    buffer.putInt(JoinFingerprint.Format).putInt(written.hash)
    buffer.putLong(head.latest(LeftSide)).putLong(head.latest(RightSide)).putLong(head.timer)
    buffer.putInt(head.parts.size)
    head.parts.foreach { p =>
      buffer.put(if (p.side == LeftSide) 0.toByte else 1.toByte)
      buffer.putLong(p.id).putInt(p.rows).putInt(p.bytes).putLong(p.first).putLong(p.last)
    }
    buffer.put(written.packed)
    buffer.array()
  }

  /** A head, and for which join it was written. */
  def read(bytes: Array[Byte]): (SlotHead, JoinFingerprint) = {
    val buffer = ByteBuffer.wrap(bytes)
    val format = buffer.getInt()
    JoinFingerprint.checkFormat(format)
    val hash = buffer.getInt()
    val latest = Map[Side, Long](LeftSide -> buffer.getLong(), RightSide -> buffer.getLong())
    val timer = buffer.getLong()
    val parts = Seq.fill(buffer.getInt()) {
      val side = if (buffer.get() == 0) LeftSide else RightSide
      Part(
        side,
        buffer.getLong(),
        buffer.getInt(),
        buffer.getInt(),
        buffer.getLong(),
        buffer.getLong())
    }
    SlotHead(parts, latest, timer) -> JoinFingerprint.read(format, hash, buffer)
  }
}

/**
 * The state variables of a slot.
 *
 * @param isCounted whether rows have counts
 */
final class SlotState(handle: StatefulProcessorHandle, isCounted: Boolean) {
  private val heads: ValueState[Array[Byte]] =
    handle.getValueState[Array[Byte]]("head", Encoders.BINARY, TTLConfig.NONE)
  private val chunks: MapState[Long, Array[Byte]] = ofParts("rows")
  private val done: MapState[Long, Array[Byte]] = ofParts("done")
  private val counts: Option[MapState[Long, Array[Byte]]] =
    Option.when(isCounted)(ofParts("counts"))

  private def ofParts(name: String): MapState[Long, Array[Byte]] =
    handle.getMapState[Long, Array[Byte]](
      name,
      Encoders.scalaLong,
      Encoders.BINARY,
      TTLConfig.NONE)

  def head(spec: StreamJoinSpec): SlotHead =
    Option(heads.get()).fold(SlotHead.Empty) { bytes =>
      val (head, written) = SlotHead.read(bytes)
      spec.earlier.get(written.hash) match {
        case Some(before) => grown(head, before, spec)
        case None =>
          spec.fingerprint.check(written)
          head
      }
    }

  /** Writes the rows anew that were kept with fewer columns. */
  private def grown(
      head: SlotHead,
      before: Map[Side, EarlierRows],
      spec: StreamJoinSpec): SlotHead = {
    val parts = head.parts.map { part =>
      val side = part.side
      val kept = RowBytes.ofChunk(chunks.getValue(part.id))
      val rows = before(side).grown(kept, spec.attributes(side))
      val next = part.copy(id = Part.newId(), bytes = rows.offset(rows.size))
      put(next, IndexedRows.ofSorted(rows, spec.fields(side)))
      putDone(next, doneRows(part))
      if (isCounted) putPartners(next, partners(part))
      remove(part)
      next
    }
    val wanted = head.copy(parts = parts)
    update(wanted, spec.fingerprint)
    wanted
  }

  def update(head: SlotHead, fingerprint: JoinFingerprint): Unit =
    heads.update(SlotHead.toBytes(head, fingerprint))

  def rows(part: Part, fields: RowFields): IndexedRows = PartCache.get(part.id) {
    IndexedRows.ofSorted(RowBytes.ofChunk(chunks.getValue(part.id)), fields)
  }

  def put(part: Part, rows: IndexedRows): Unit = {
    chunks.updateValue(part.id, rows.rows.toChunk)
    PartCache.put(part.id, rows)
  }

  def doneRows(part: Part): java.util.BitSet =
    Option(done.getValue(part.id)).fold(new java.util.BitSet)(java.util.BitSet.valueOf)

  def putDone(part: Part, rows: java.util.BitSet): Unit =
    if (!rows.isEmpty) done.updateValue(part.id, rows.toByteArray)

  /** How many partners the rows of a part have. */
  def partners(part: Part): Array[Long] =
    counts.flatMap(c => Option(c.getValue(part.id))).fold(new Array[Long](part.rows)) { bytes =>
      val found = new Array[Long](part.rows)
      ByteBuffer.wrap(bytes).asLongBuffer().get(found)
      found
    }

  def putPartners(part: Part, partners: Array[Long]): Unit = counts.foreach { c =>
    val buffer = ByteBuffer.allocate(8 * partners.length)
    buffer.asLongBuffer().put(partners)
    c.updateValue(part.id, buffer.array())
  }

  def remove(part: Part): Unit = {
    chunks.removeKey(part.id)
    done.removeKey(part.id)
    counts.foreach(_.removeKey(part.id))
    PartCache.remove(part.id)
  }

  def setTimer(old: Long, next: Long): Unit = {
    if (old != 0) handle.deleteTimer(old)
    handle.registerTimer(next)
  }
}

/**
 * Parts that an executor has read or written, as long as there is memory for them: rows are read once
 * and not in each batch. A part never changes, so that it cannot be out of date.
 */
private object PartCache {
  private val Most = 4096
  private val parts = new java.util.LinkedHashMap[Long, java.lang.ref.SoftReference[IndexedRows]](
    16,
    0.75f,
    true) {
    override def removeEldestEntry(
        eldest: java.util.Map.Entry[Long, java.lang.ref.SoftReference[IndexedRows]]): Boolean =
      size > Most
  }

  def get(id: Long)(read: => IndexedRows): IndexedRows = {
    val known = parts.synchronized(Option(parts.get(id))).flatMap(r => Option(r.get))
    known.getOrElse {
      val rows = read
      put(id, rows)
      rows
    }
  }

  def put(id: Long, rows: IndexedRows): Unit =
    parts.synchronized { parts.put(id, new java.lang.ref.SoftReference(rows)); () }

  def remove(id: Long): Unit = parts.synchronized { parts.remove(id); () }
}

/** Which parts of a side are to be put together, so that there are few. */
object Merging {

  /** So many of about one size become one. */
  private val Together = 4

  /** Larger ones are left as they are. */
  val LargestBytes: Int = 64 << 20

  def of(parts: Seq[Part]): Seq[Part] = {
    val small = parts.filter(_.bytes < LargestBytes / Together)
    val levels = small.groupBy(p => (31 - Integer.numberOfLeadingZeros(p.rows | 1)) / 2)
    levels.toSeq.sortBy(_._1).map(_._2).find(_.size >= Together).getOrElse(Nil)
  }

  /** The kept rows of sorted blocks as one, and where each was among those of one after the other. */
  def merge(
      blocks: Seq[(IndexedRows, Int => Boolean)],
      fields: RowFields): (IndexedRows, Int => Int) = blocks match {
    case Seq((rows, isKept)) if (0 until rows.size).forall(isKept) => (rows, identity)
    case _ => IndexedRows.sorted(together(blocks), fields)
  }

  private def together(blocks: Seq[(IndexedRows, Int => Boolean)]): RowBytes = {
    val all = RowBytes.like(blocks.map(_._1.rows))
    blocks.foreach { case (rows, isKept) =>
      var i = 0
      while (i < rows.size) {
        if (isKept(i)) all.add(rows.rows.data, rows.rows.offset(i), rows.rows.length(i))
        i += 1
      }
    }
    all
  }

  def part(side: Side, rows: IndexedRows): Part = Part(
    side,
    Part.newId(),
    rows.size,
    rows.rows.offset(rows.size),
    rows.expiries.min,
    rows.expiries.max)

  /** Row numbers, gathered. */
  def numbers(size: Int, isTaken: Int => Boolean): Array[Int] = {
    val taken = new ArrayBuffer[Int]
    var i = 0
    while (i < size) { if (isTaken(i)) taken += i; i += 1 }
    taken.toArray
  }
}
