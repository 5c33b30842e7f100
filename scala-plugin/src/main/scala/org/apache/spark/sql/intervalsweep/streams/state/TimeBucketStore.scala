// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import scala.collection.mutable

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig, ValueState}
import org.apache.spark.sql.types.DataType

/**
 * The stored rows of a partition, packed, in time buckets by expiry:
 * {{{
 *   bucket        37            38            39          rows that expire in [38, 39) x width
 *   parts    [0][1][2]       [0][1]         [0]           a micro-batch adds a part
 * }}}
 * Invariant: all rows of a bucket expire between its start and its end, so eviction deletes whole
 * buckets and reads no rows. A micro-batch adds one part to each bucket that it has rows for. Only
 * a bucket that already has 8 parts is read and written as one part.
 *
 * The watermark trails by one micro-batch, so a micro-batch may span much more time than rows live
 * and would fill many buckets. It then uses buckets of 2^level widths.
 */
final class TimeBucketStore private (
    layout: StateLayout,
    headState: ValueState[Array[Byte]],
    partState: MapState[Long, Array[Byte]],
    opened: WindowStateMetadata) {
  private var known = opened

  /** The stored metadata of the partition. */
  private[streams] def head: WindowStateMetadata = known

  private val buckets =
    layout.types.map(_ => mutable.TreeMap.empty[TimeBucketId, TimeBucket]).toArray
  head.buckets.foreach(s => buckets(s.side)(s.id) = s)

  /** The level of the buckets that rows are added to: a bucket has 2^level widths. */
  private var level = head.level

  private val writers =
    layout.types.map(_ => mutable.HashMap.empty[TimeBucketId, TimeBucketWriter]).toArray

  /** For each side the last writer, since the next row is mostly for the same bucket. */
  private val last = new Array[TimeBucketId](writers.length)
  private val writer = new Array[TimeBucketWriter](writers.length)

  /** The buckets of a side, in the order of their starts. */
  def of(side: Int): Iterable[TimeBucket] = buckets(side).values

  /** The rows of a bucket. Each row is valid until the next one is read. */
  def rows(bucket: TimeBucket): Iterator[InternalRow] =
    TimeBucketStore.unpack(chunks(bucket), layout.types(bucket.side))

  private def chunks(bucket: TimeBucket): Seq[Array[Byte]] = (0 until bucket.parts).map(part =>
    partState.getValue(bucket.key(part)))

  /** The stored summary of the bucket, if the bucket has not changed since. */
  def summary(bucket: TimeBucket): Option[Array[Byte]] =
    Option.when(bucket.hasSummary)(partState.getValue(bucket.summaryKey))

  /** Stores a summary of the bucket. It is deleted when the bucket changes. */
  def summarize(bucket: TimeBucket, bytes: Array[Byte]): Unit = {
    partState.updateValue(bucket.summaryKey, bytes)
    bucket.hasSummary = true
  }

  private def forgetSummary(bucket: TimeBucket): Unit = if (bucket.hasSummary) {
    partState.removeKey(bucket.summaryKey)
    bucket.hasSummary = false
  }

  /** Rewrites the rows of a side that were stored with fewer columns. */
  private def grow(before: WindowSchemaEvolution): Unit = of(before.side).foreach { bucket =>
    val types = layout.types(before.side)
    val packer = new RowPacker(types.length)
    before.grown(chunks(bucket), types).foreach(packer.add)
    replace(bucket, packer)
  }

  /** Adds a row; `leaves` is its expiry and `time` its event time, in microseconds. */
  def add(side: Int, leaves: Long, row: InternalRow, time: Long): Unit = {
    val at = writers(side)
    val id = TimeBucketId(Math.floorDiv(leaves, head.bucketMicros << level), level)
    if (last(side) != id) {
      last(side) = id
      writer(side) = at.getOrElseUpdate(id, new TimeBucketWriter(layout.types(side).length))
      if (at.size > TimeBucketStore.MostBuckets * (1 + level - head.level) &&
        level < TimeBucketStore.MostLevel)
        level += 1
    }
    writer(side).add(row, time)
  }

  /** Evicts the buckets that end at `now` or before it; returns the number of evicted rows. */
  def expire(side: Int, now: Long): Long = {
    val gone = of(side).filter(end(_) <= now).toSeq
    gone.foreach(drop)
    gone.map(_.rows).sum
  }

  /** Deletes the stored rows of a bucket, but not the rows that this call has added to it. */
  def drop(bucket: TimeBucket): Unit = {
    (0 until bucket.parts).foreach(part => partState.removeKey(bucket.key(part)))
    forgetSummary(bucket)
    buckets(bucket.side).remove(bucket.id)
  }

  /** No row of the bucket expires before this time. */
  def start(bucket: TimeBucket): Long = bucket.id.number * (head.bucketMicros << bucket.id.level)

  /** All rows of the bucket expire before this time. */
  def end(bucket: TimeBucket): Long =
    (bucket.id.number + 1) * (head.bucketMicros << bucket.id.level)

  /** Writes the added rows and the metadata, from which the next call goes on. */
  def save(watermark: Long, timer: Long): Unit = {
    for (side <- writers.indices; (id, writer) <- writers(side)) append(side, id, writer)
    val kept = buckets.toSeq.flatMap(_.values)
    // Return to shorter buckets when the micro-batch filled few.
    val isCoarse = level == head.level && writers.forall(_.size < TimeBucketStore.MostBuckets / 8)
    if (isCoarse) level = math.max(0, level - 1)
    writers.foreach(_.clear())
    last.indices.foreach(last(_) = null)
    known = head.copy(watermark = watermark, timer = timer, level = level, buckets = kept)
    headState.update(known.toBytes)
  }

  private def append(side: Int, id: TimeBucketId, writer: TimeBucketWriter): Unit = {
    val bucket = buckets(side).getOrElseUpdate(id, new TimeBucket(side, id))
    bucket.add(writer)
    forgetSummary(bucket)
    if (bucket.parts == TimeBucketStore.MostParts) merge(bucket, writer)
    else {
      partState.updateValue(bucket.key(bucket.parts), writer.packer.take())
      bucket.parts += 1
    }
  }

  /** Merges the parts of a bucket into one, since many small parts are slow to read. */
  private def merge(bucket: TimeBucket, writer: TimeBucketWriter): Unit = {
    rows(bucket).foreach(writer.packer.add)
    replace(bucket, writer.packer)
  }

  private def replace(bucket: TimeBucket, packer: RowPacker): Unit = {
    partState.updateValue(bucket.key(0), packer.take())
    (1 until bucket.parts).foreach(part => partState.removeKey(bucket.key(part)))
    bucket.parts = 1
  }

  def numBuckets: Int = buckets.map(_.size).sum
  def numRows: Long = buckets.map(_.values.map(_.rows).sum).sum
}

object TimeBucketStore {
  private val MostLevel = 20
  private val MostParts = 8

  /** The number of buckets of a side that a micro-batch fills before it uses longer ones. */
  private val MostBuckets = 128

  private[streams] def unpack(
      chunks: Seq[Array[Byte]],
      types: Array[DataType]): Iterator[InternalRow] =
    RowUnpacker.unpack(chunks.iterator, types)

  /** The state variables. They are the same objects for all partitions of a task. */
  private[streams] final class Variables(handle: StatefulProcessorHandle) {
    private val heads = handle.getValueState("head", Encoders.BINARY, TTLConfig.NONE)
    private val parts =
      handle.getMapState("rows", Encoders.scalaLong, Encoders.BINARY, TTLConfig.NONE)

    /** Reads the state of the partition that Spark has selected. */
    def open(layout: StateLayout): TimeBucketStore = {
      val wanted = layout.fingerprint
      val head =
        if (heads.exists()) WindowStateMetadata.read(heads.get())
        else
          WindowStateMetadata(0, WindowStateMetadata.NoTimer, 0, layout.bucketMicros, wanted, Nil)
      val before =
        if (head.fingerprint == wanted) None else layout.fewer(head.fingerprint)
      if (before.isEmpty) WindowStateMetadata.check(head.fingerprint, wanted)
      val store = new TimeBucketStore(layout, heads, parts, head.copy(fingerprint = wanted))
      before.foreach(store.grow)
      store
    }
  }
}
