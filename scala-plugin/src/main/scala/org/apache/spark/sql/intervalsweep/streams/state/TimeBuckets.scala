// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}

/**
 * The stored rows of a partition in time buckets, each a run of the rows that expire in one stretch
 * of time:
 * {{{
 *   bucket        37            38            39          rows that expire in [38, 39) x width
 *   chunks    [0][1][2]       [0][1]         [0]          a micro-batch adds a chunk
 * }}}
 * Invariant: all rows of a bucket expire between its start and its end, so eviction deletes whole
 * buckets and reads no rows. A micro-batch adds one chunk to each bucket that it has rows for. Only
 * a bucket that already has 8 chunks is read and written as one chunk.
 *
 * The watermark trails by one micro-batch, so a micro-batch may span much more time than rows live
 * and would fill many buckets. It then uses buckets of 2^level widths.
 *
 * @param width  the width of a bucket of level 0, in microseconds. The checkpoint fixes it
 * @param others further numbers that the operator keeps; their values before the first micro-batch
 */
final class TimeBuckets(
    state: PartitionState,
    layout: StateLayout,
    width: Long,
    others: Seq[Long] = Nil) {
  private val runs = state.runs
  private var known = state.open(layout, Seq(0L, width) ++ others)
  private val types = layout.types.map { case (side, types) => side -> types.toArray }
  private val bucketMicros = known.values(1)

  private val buckets: Map[Side, mutable.TreeMap[(Long, Long), StoredRun]] = layout.types.map {
    case (side, _) =>
      val own = known.runs.filter(_.side == side).map(bucket => TimeBuckets.key(bucket) -> bucket)
      side -> mutable.TreeMap.from(own)
  }

  /** The level of the buckets that rows are added to: a bucket has 2^level widths. */
  private var level = known.values.head.toInt
  private def savedLevel: Int = known.values.head.toInt

  /** The further numbers, which the next call finds as they are when it saves. */
  val numbers: Array[Long] = known.values.drop(2).toArray

  private val writers: Map[Side, TimeBucketWriters] =
    types.map { case (side, types) => side -> new TimeBucketWriters(types.length) }

  /** The metadata of the last micro-batch. */
  def metadata: StateMetadata = known

  /** The watermark of the last micro-batch, in milliseconds; 0 before the first one. */
  def watermark: Long = known.watermark.getOrElse(0L)

  /** The buckets of a side, in the order of their starts. */
  def of(side: Side): Iterable[StoredRun] = buckets(side).values

  /** The rows of a bucket. Each row is valid until the next one is read. */
  def rows(bucket: StoredRun): Iterator[InternalRow] =
    RowUnpacker.unpack(runs.chunks(bucket).iterator, types(bucket.side))

  /** The stored summary of the bucket, if the bucket has not changed since. */
  def summary(bucket: StoredRun): Option[Array[Byte]] = runs.attachment(bucket, Attachment.Summary)

  /** Stores a summary of the bucket. It is deleted when the bucket changes. */
  def summarize(bucket: StoredRun, bytes: Array[Byte]): Unit =
    put(runs.attach(bucket, Attachment.Summary, bytes))

  private def put(bucket: StoredRun): Unit =
    buckets(bucket.side)(TimeBuckets.key(bucket)) = bucket

  /** Adds a row; `leaves` is its expiry and `time` its event time, in microseconds. */
  def add(side: Side, leaves: Long, row: InternalRow, time: Long): Unit = {
    val own = writers(side)
    own.add(leaves, bucketMicros << level, row, time)
    if (own.size > TimeBuckets.MostBuckets * (1 + level - savedLevel) &&
      level < TimeBuckets.MostLevel)
      level += 1
  }

  /** Evicts the buckets that end at `now` or before it; returns the number of evicted rows. */
  def expire(side: Side, now: Long): Long = {
    val gone = of(side).filter(_.last <= now).toSeq
    gone.foreach(drop)
    gone.map(_.rows).sum
  }

  /** Deletes the stored rows of a bucket, but not the rows that this call has added to it. */
  def drop(bucket: StoredRun): Unit = {
    runs.remove(bucket)
    buckets(bucket.side).remove(TimeBuckets.key(bucket))
  }

  /** Writes the added rows and the metadata, from which the next call goes on. */
  def save(watermark: Long): Unit = {
    for (side <- Side.all if writers.contains(side); writer <- writers(side).all)
      append(side, writer)
    // Return to shorter buckets when the micro-batch filled few.
    val isCoarse = level == savedLevel &&
      writers.values.forall(_.size < TimeBuckets.MostBuckets / 8)
    if (isCoarse) level = math.max(0, level - 1)
    writers.values.foreach(_.clear())
    known = known.copy(
      watermark = Some(watermark),
      values = Seq(level.toLong, bucketMicros) ++ numbers,
      runs = Side.all.filter(buckets.contains).flatMap(of))
    state.save(known)
  }

  private def append(side: Side, writer: TimeBucketWriter): Unit = {
    val before = buckets(side).getOrElse(
      (writer.first, writer.last),
      runs.create(side, writer.first, writer.last))
    val bucket = runs.detach(before, Attachment.Summary)
    val packer = writer.packer
    val grown = bucket.copy(
      rows = bucket.rows + packer.numRows,
      bytes = bucket.bytes + packer.size,
      minTime = math.min(bucket.minTime, writer.minTime),
      maxTime = math.max(bucket.maxTime, writer.maxTime))
    put(if (bucket.parts < TimeBuckets.MostParts) runs.add(grown, packer.take())
    else {
      // Many small chunks are slow to read.
      rows(bucket).foreach(packer.add)
      runs.replace(grown, packer.take())
    })
  }

  def numBuckets: Int = buckets.values.map(_.size).sum
  def numRows: Long = buckets.values.flatMap(_.values.map(_.rows)).sum
}

private object TimeBuckets {
  val MostLevel = 20

  /** The number of chunks of a bucket. */
  val MostParts = 8

  /** The number of buckets of a side that a micro-batch fills before it uses longer ones. */
  val MostBuckets = 128

  /** The key of a bucket: when its first and its last row may expire. */
  def key(bucket: StoredRun): (Long, Long) = (bucket.first, bucket.last)
}

/** The rows of one side that a micro-batch adds, by time bucket. */
private final class TimeBucketWriters(numFields: Int) {
  private val byBucket = mutable.HashMap.empty[(Long, Long), TimeBucketWriter]

  /** The last writer, since the next row is mostly for the same bucket. */
  private var writer: TimeBucketWriter = _

  def size: Int = byBucket.size

  /** The writers, in the order of their buckets. */
  def all: Seq[TimeBucketWriter] = byBucket.values.toSeq.sortBy(w => (w.first, w.last))

  def clear(): Unit = {
    byBucket.clear()
    writer = null
  }

  def add(leaves: Long, width: Long, row: InternalRow, time: Long): Unit = {
    if (writer == null || leaves < writer.first || leaves >= writer.last ||
      writer.last - writer.first != width) {
      val first = Math.floorDiv(leaves, width) * width
      val last = if (first > Long.MaxValue - width) Long.MaxValue else first + width
      writer = byBucket
        .getOrElseUpdate((first, last), new TimeBucketWriter(numFields, first, last))
    }
    writer.add(row, time)
  }
}

/**
 * Packs the rows that a micro-batch adds to a time bucket, and tracks their event times.
 *
 * @param first the start of the bucket, in microseconds
 * @param last  its end; no row expires then or later
 */
private final class TimeBucketWriter(numFields: Int, val first: Long, val last: Long) {
  val packer = new RowPacker(numFields)
  var minTime: Long = Long.MaxValue
  var maxTime: Long = Long.MinValue

  def add(row: InternalRow, time: Long): Unit = {
    packer.add(row)
    minTime = math.min(minTime, time)
    maxTime = math.max(maxTime, time)
  }
}
