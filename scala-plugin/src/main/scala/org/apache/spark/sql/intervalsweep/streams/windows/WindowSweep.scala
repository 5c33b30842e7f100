// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, RowBlock, TaskMemory}
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide
import org.apache.spark.sql.intervalsweep.streams.state.StoredRun

/**
 * Aggregates the windows of a partition's base rows in a micro-batch over new and stored probe
 * rows. A time bucket that all windows contain is not read if its sums are stored.
 *
 * @param buckets the time buckets of stored probe rows
 * @param bases   the base rows, sorted
 * @param ends    the ends of their windows
 * @param keptFor how long after its event time a probe row expires
 */
private[streams] final class WindowSweep(
    batch: PartitionBatch,
    buckets: Iterable[StoredRun],
    probe: StreamSide,
    bases: BaseSideBuffer,
    ends: WindowEnds,
    keptFor: Long,
    memory: TaskMemory) {
  private val reach = WindowReach(ends, bases.block.numRows)
  private val partners = bases.partners()

  /** Columns with a row for each base row. */
  def results(
      arrived: Iterator[InternalRow],
      values: WindowResults,
      sums: BucketAggregates): Array[BlockColumn] = {
    arrived.foreach(add)
    val totals = new BucketAggregates.Totals(sums, bases.keyed, memory)
    val met = buckets.filter(s => reach.meets(s.minTime, s.maxTime)).toSeq
    val (summed, read) = met.partition { s =>
      sums.isPossible && isInAll(s) && totals.hasRoom && add(s, sums, totals)
    }
    read.foreach(addRows)
    val found = runs()
    if (summed.isEmpty) values.of(bases.block, partners.block, found)
    else if (values.fit(partners.block, found)) {
      val columns = values.ofRuns(partners.block, found)
      totals.addTo(columns)
      columns
    } else {
      summed.foreach(addRows)
      values.of(bases.block, partners.block, runs())
    }
  }

  /**
   * The probe rows that may be in a window, sorted, and the run of them in each window.
   *
   * @param more adds further stored rows to the block
   */
  def matches(
      arrived: Iterator[InternalRow],
      more: KeyedBlock => Unit): (RowBlock, WindowRuns) = {
    arrived.foreach(add)
    buckets.filter(bucket => reach.meets(bucket.minTime, bucket.maxTime)).foreach(addRows)
    more(partners)
    val found = runs()
    (partners.block, found)
  }

  private def runs(): WindowRuns = {
    partners.block.sort()
    WindowRuns.of(bases.block, partners.block, ends)
  }

  private def add(row: InternalRow): Unit = {
    val time = row.getLong(probe.timeOrdinal)
    if (reach.meets(time, time) && partners.read(row)) partners.append(row)
  }

  private def addRows(bucket: StoredRun): Unit = stored(bucket).foreach(add)

  private def stored(bucket: StoredRun): Iterator[InternalRow] = {
    batch.counts.read += bucket.rows
    batch.store.rows(bucket)
  }

  /** Whether all windows contain a bucket, and no rows will be added to it. */
  private def isInAll(bucket: StoredRun): Boolean =
    reach.isInAll(bucket.minTime, bucket.maxTime) && bucket.last - keptFor <= batch.now

  /** Adds the sums of a bucket if they are stored or worth storing; returns whether it did. */
  private def add(
      bucket: StoredRun,
      sums: BucketAggregates,
      totals: BucketAggregates.Totals): Boolean = {
    val known = batch.store.summary(bucket).filter(sums.areIn)
    val all = known.orElse(Option.when(staysInAll(bucket))(made(bucket, sums)))
    val found = all.flatMap(sums.rows)
    found.foreach(totals.add)
    found.isDefined
  }

  /** Whether the windows of the next micro-batches will contain it, if these are like this one. */
  private def staysInAll(bucket: StoredRun): Boolean =
    reach.isInAll(bucket.minTime - 2 * (batch.now - batch.before), bucket.maxTime)

  private def made(bucket: StoredRun, sums: BucketAggregates): Array[Byte] = {
    val rows = bases.allProbes()
    stored(bucket).foreach(row => if (rows.read(row)) rows.append(row))
    val found = sums.of(rows)
    batch.store.summarize(bucket, found)
    found
  }
}

/**
 * The times that some windows contain, and the times that all windows contain.
 *
 * @param first      the smallest lower end
 * @param last       the largest upper end
 * @param lastLower  the largest lower end
 * @param firstUpper the smallest upper end
 */
private[streams] final case class WindowReach(
    first: Long,
    last: Long,
    lastLower: Long,
    firstUpper: Long) {

  /** Whether a window may contain a time from `from` to `to`. */
  def meets(from: Long, to: Long): Boolean = from <= last && to >= first

  /** Whether all windows contain all times from `from` to `to`. */
  def isInAll(from: Long, to: Long): Boolean = from >= lastLower && to <= firstUpper
}

private[streams] object WindowReach {
  def apply(ends: WindowEnds, rows: Int): WindowReach = {
    var (first, last) = (Long.MaxValue, Long.MinValue)
    var (lastLower, firstUpper) = (Long.MinValue, Long.MaxValue)
    var i = 0
    while (i < rows) {
      val (lower, upper) = (ends.lower(i), ends.upper(i))
      first = math.min(first, lower)
      lastLower = math.max(lastLower, lower)
      firstUpper = math.min(firstUpper, upper)
      last = math.max(last, upper)
      i += 1
    }
    WindowReach(first, last, lastLower, firstUpper)
  }
}
