// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import scala.collection.mutable

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig, ValueState}
import org.apache.spark.sql.types.DataType

/**
 * What a slot's state holds.
 *
 * @param types       of the columns of each side's rows
 * @param sliceMicros how long a slice is
 * @param fingerprint what the state is written for, by name. A checkpoint of another query is
 *                    refused with the name of what differs
 * @param fewer       of another fingerprint: whether it is one of fewer columns, whose rows are
 *                    taken over
 */
case class StateLayout(
    types: Seq[Array[DataType]],
    sliceMicros: Long,
    fingerprint: Seq[(String, String)],
    fewer: Seq[(String, String)] => Option[FewerColumns] = _ => None)

/**
 * The rows that a slot keeps, packed, by the time at which they leave:
 * {{{
 *   slice        37            38            39          rows that leave in [38, 39) x width
 *   parts    [0][1][2]       [0][1]         [0]          each what some micro-batch added
 * }}}
 * What leaves together lies together: a slice is dropped as a whole. A micro-batch adds a part to
 * each slice that it has rows for, and reads no other. Micro-batches may span much more time than
 * the rows live, as the watermark is one behind: their slices are longer, by powers of two.
 */
final class SliceStore private (
    layout: StateLayout,
    headState: ValueState[Array[Byte]],
    partState: MapState[Long, Array[Byte]],
    opened: SliceHead) {
  private var known = opened

  /** What is stored of the slot. */
  private[streams] def head: SliceHead = known

  private val slices =
    layout.types.map(_ => mutable.TreeMap.empty[SliceId, Slice]).toArray
  head.slices.foreach(s => slices(s.side)(s.id) = s)

  /** The length of the slices that rows are added to now. */
  private var level = head.level

  private val writers = layout.types.map(_ => mutable.HashMap.empty[SliceId, SliceWriter]).toArray

  /** Of each side the writer of the row before: the next one is mostly for the same slice. */
  private val last = new Array[SliceId](writers.length)
  private val writer = new Array[SliceWriter](writers.length)

  /** The slices of a side, the first to leave first. */
  def of(side: Int): Iterable[Slice] = slices(side).values

  /** The rows of a slice. Each is valid until the next one. */
  def rows(slice: Slice): Iterator[InternalRow] =
    SliceStore.unpack(chunks(slice), layout.types(slice.side))

  private def chunks(slice: Slice): Seq[Array[Byte]] = (0 until slice.parts).map(part =>
    partState.getValue(slice.key(part)))

  /** What was stored of the slice as it is now. */
  def summary(slice: Slice): Option[Array[Byte]] =
    Option.when(slice.hasSummary)(partState.getValue(slice.summaryKey))

  /** Keeps something that is computed of the slice, until the slice changes. */
  def summarize(slice: Slice, bytes: Array[Byte]): Unit = {
    partState.updateValue(slice.summaryKey, bytes)
    slice.hasSummary = true
  }

  private def forgetSummary(slice: Slice): Unit = if (slice.hasSummary) {
    partState.removeKey(slice.summaryKey)
    slice.hasSummary = false
  }

  /** Writes the rows of a side anew that were written with fewer columns. */
  private def grow(before: FewerColumns): Unit = of(before.side).foreach { slice =>
    val types = layout.types(before.side)
    val packer = new RowPacker(types.length)
    before.grown(chunks(slice), types).foreach(packer.add)
    replace(slice, packer)
  }

  /** Keeps a row that leaves at a time, in microseconds. */
  def add(side: Int, leaves: Long, row: InternalRow, time: Long): Unit = {
    val at = writers(side)
    val id = SliceId(Math.floorDiv(leaves, head.sliceMicros << level), level)
    if (last(side) != id) {
      last(side) = id
      writer(side) = at.getOrElseUpdate(id, new SliceWriter(layout.types(side).length))
      if (at.size > SliceStore.MostSlices * (1 + level - head.level) &&
        level < SliceStore.MostLevel)
        level += 1
    }
    writer(side).add(row, time)
  }

  /** Drops what has left at a time; says how many rows that is. */
  def expire(side: Int, now: Long): Long = {
    val gone = of(side).filter(end(_) <= now).toSeq
    gone.foreach(drop)
    gone.map(_.rows).sum
  }

  /** Drops what is stored of a slice, but not what was added since. */
  def drop(slice: Slice): Unit = {
    (0 until slice.parts).foreach(part => partState.removeKey(slice.key(part)))
    forgetSummary(slice)
    slices(slice.side).remove(slice.id)
  }

  /** Rows of the slice leave from then on. */
  def start(slice: Slice): Long = slice.id.number * (head.sliceMicros << slice.id.level)

  /** All rows of the slice leave before that. */
  def end(slice: Slice): Long = (slice.id.number + 1) * (head.sliceMicros << slice.id.level)

  /** Writes what was added, and the watermark. The next call goes on from there. */
  def save(watermark: Long, timer: Long): Unit = {
    for (side <- writers.indices; (id, writer) <- writers(side)) append(side, id, writer)
    val kept = slices.toSeq.flatMap(_.values)
    // Shorter ones again where few are needed.
    val isCoarse = level == head.level && writers.forall(_.size < SliceStore.MostSlices / 8)
    if (isCoarse) level = math.max(0, level - 1)
    writers.foreach(_.clear())
    last.indices.foreach(last(_) = null)
    known = head.copy(watermark = watermark, timer = timer, level = level, slices = kept)
    headState.update(known.toBytes)
  }

  private def append(side: Int, id: SliceId, writer: SliceWriter): Unit = {
    val slice = slices(side).getOrElseUpdate(id, new Slice(side, id))
    slice.add(writer)
    forgetSummary(slice)
    if (slice.parts == SliceStore.MostParts) merge(slice, writer)
    else {
      partState.updateValue(slice.key(slice.parts), writer.packer.take())
      slice.parts += 1
    }
  }

  /** A slice of many small parts would be read in many pieces. */
  private def merge(slice: Slice, writer: SliceWriter): Unit = {
    rows(slice).foreach(writer.packer.add)
    replace(slice, writer.packer)
  }

  private def replace(slice: Slice, packer: RowPacker): Unit = {
    partState.updateValue(slice.key(0), packer.take())
    (1 until slice.parts).foreach(part => partState.removeKey(slice.key(part)))
    slice.parts = 1
  }

  def numSlices: Int = slices.map(_.size).sum
  def numRows: Long = slices.map(_.values.map(_.rows).sum).sum
}

private[streams] final class SliceWriter(numFields: Int) {
  val packer = new RowPacker(numFields)
  var minTime: Long = Long.MaxValue
  var maxTime: Long = Long.MinValue

  def add(row: InternalRow, time: Long): Unit = {
    packer.add(row)
    minTime = math.min(minTime, time)
    maxTime = math.max(maxTime, time)
  }
}

/** The `number`-th stretch of time of 2^`level` times the length of a slice. */
private[streams] case class SliceId(number: Long, level: Int)

private[streams] object SliceId {
  implicit val order: Ordering[SliceId] = Ordering.by(id => (id.number << id.level, id.level))
}

/** Rows of a side that leave within a stretch of time, and of which times they are. */
final class Slice(val side: Int, private[streams] val id: SliceId) {
  private[streams] var parts = 0
  private[streams] var rows = 0L
  private[streams] var hasSummary = false
  var minTime: Long = Long.MaxValue
  var maxTime: Long = Long.MinValue

  private[streams] def add(writer: SliceWriter): Unit = {
    rows += writer.packer.numRows
    minTime = math.min(minTime, writer.minTime)
    maxTime = math.max(maxTime, writer.maxTime)
  }

  private[streams] def key(part: Int): Long =
    ((id.number << SliceStore.LevelBits | id.level) << SliceStore.SideBits | side) <<
      SliceStore.PartBits | part

  private[streams] def summaryKey: Long = key(SliceStore.SummaryPart)
}

object SliceStore {
  private[streams] val PartBits = 5
  private[streams] val SideBits = 2
  private[streams] val LevelBits = 5
  private val MostLevel = 20
  private val MostParts = 8

  /** Where a part would be that there never is. */
  private[streams] val SummaryPart = 31

  /** How many slices of a side a micro-batch adds to before it takes longer ones. */
  private val MostSlices = 128

  private[streams] def unpack(
      chunks: Seq[Array[Byte]],
      types: Array[DataType]): Iterator[InternalRow] =
    RowUnpacker.unpack(chunks.iterator, types)

  /** The variables of the state: the same for all slots. */
  private[streams] final class Variables(handle: StatefulProcessorHandle) {
    private val heads = handle.getValueState("head", Encoders.BINARY, TTLConfig.NONE)
    private val parts =
      handle.getMapState("rows", Encoders.scalaLong, Encoders.BINARY, TTLConfig.NONE)

    /** The state of the slot whose turn it is. */
    def open(layout: StateLayout): SliceStore = {
      val wanted = layout.fingerprint
      val head =
        if (heads.exists()) SliceHead.read(heads.get())
        else SliceHead(0, SliceHead.NoTimer, 0, layout.sliceMicros, wanted, Nil)
      val before =
        if (head.fingerprint == wanted) None else layout.fewer(head.fingerprint)
      if (before.isEmpty) SliceHead.check(head.fingerprint, wanted)
      val store = new SliceStore(layout, heads, parts, head.copy(fingerprint = wanted))
      before.foreach(store.grow)
      store
    }
  }
}

/**
 * What a slot knows of its state.
 *
 * @param watermark of the last micro-batch, in milliseconds
 * @param timer     the one that is registered
 * @param level     of the slices that the next micro-batch begins with
 */
private[streams] case class SliceHead(
    watermark: Long,
    timer: Long,
    level: Int,
    sliceMicros: Long,
    fingerprint: Seq[(String, String)],
    slices: Seq[Slice]) {

  def toBytes: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeByte(SliceHead.Format)
    out.writeLong(watermark)
    out.writeLong(timer)
    out.writeByte(level)
    out.writeLong(sliceMicros)
    out.writeInt(fingerprint.size)
    fingerprint.foreach { case (name, text) => Seq(name, text).foreach(SliceHead.write(out, _)) }
    out.writeInt(slices.size)
    slices.foreach { s =>
      out.writeByte(s.side)
      out.writeByte(s.id.level)
      Seq(s.id.number, s.rows, s.minTime, s.maxTime).foreach(out.writeLong)
      out.writeByte(if (s.hasSummary) s.parts | SliceHead.HasSummary else s.parts)
    }
    bytes.toByteArray
  }
}

private[streams] object SliceHead {
  val NoTimer: Long = -1

  /** Is set in the number of a slice's parts. */
  private val HasSummary = 0x80

  /** Of heads and parts. A state of a later format is refused. */
  private val Format = 1

  private def write(out: DataOutputStream, text: String): Unit = {
    val bytes = text.getBytes("UTF-8")
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def readText(in: DataInputStream): String =
    new String(in.readNBytes(in.readInt()), "UTF-8")

  def read(bytes: Array[Byte]): SliceHead = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    val format = in.readByte()
    if (format != Format) StreamErrors.stateFormat(format.toInt, Format)
    val (watermark, timer) = (in.readLong(), in.readLong())
    val (level, width) = (in.readByte().toInt, in.readLong())
    val fingerprint = Seq.fill(in.readInt())((readText(in), readText(in)))
    val slices = Seq.fill(in.readInt()) {
      val (side, sliceLevel) = (in.readByte().toInt, in.readByte().toInt)
      val slice = new Slice(side, SliceId(in.readLong(), sliceLevel))
      slice.rows = in.readLong()
      slice.minTime = in.readLong()
      slice.maxTime = in.readLong()
      val parts = in.readUnsignedByte()
      slice.parts = parts & ~SliceHead.HasSummary
      slice.hasSummary = (parts & SliceHead.HasSummary) != 0
      slice
    }
    SliceHead(watermark, timer, level, width, fingerprint, slices)
  }

  /** Fails if the state was written for something else. */
  def check(written: Seq[(String, String)], wanted: Seq[(String, String)]): Unit =
    for ((name, now) <- wanted; before = written.toMap.getOrElse(name, "nothing"))
      if (before != now) StreamErrors.stateMismatch(name, before, now)
}
