// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.expiry.WindowEnd
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, KeyGroups, RowBlock, TaskMemory
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide

/**
 * For each base row, aggregates over the probe rows of its key in a window around its time: the
 * online interval join of Scale-OIJ. [[FinalWindows]] emits a base row when no later row can change
 * the result, [[EagerWindows]] at once and again when the result changes.
 *
 * {{{
 *                    lower           time of the base row     upper
 *   probe rows  ------[------x---x-------------x-----x-----x---]------x------> time
 *                                                              ^
 *             final when the watermark is here: probe rows that arrive later have a later time
 * }}}
 * Invariant: a base row is stored until the watermark reaches the upper end of its window. A probe
 * row is stored as long as the window of a stored base row, or of one that may still arrive, can
 * contain it: for PRE + FOL after its time, if windows reach from PRE before the base row's time to
 * FOL behind it.
 *
 * Cost per micro-batch: a sort of the emitted base rows and of the probe rows that are read.
 * Counts, sums and extremes then take O(1) amortized per row ([[SlidingRuns]]); other aggregates,
 * and a residual condition, take a step for each row of each window ([[RowAtATimeAggregator]]).
 *
 * A task has one instance for all its partitions. Its calls do not overlap.
 */
private[streams] abstract class WindowUnionRun(spec: WindowUnionSpec) {
  import WindowUnionSpec.{Base, Probe}

  protected val base: StreamSide = spec.base.side
  protected val probe: StreamSide = spec.probe
  protected val payload: Seq[Int] = spec.base.payload.map(base.ordinal)
  private val lowerOrdinal = spec.base.lower.map(base.ordinal)
  private val upperOrdinal = spec.base.upper.map(base.ordinal)
  private val probeKeys = probe.keys.map(probe.ordinal)
  protected val values: WindowResults =
    new WindowResults(spec.results, base.columns, probe.columns, spec.residual)
  private val sums = new BucketAggregates(spec.results, probe, values)

  private val memory: TaskMemory = TaskMemory.of(TaskContext.get())

  /** The rows that a partition emits. Each row is valid until the next one is read. */
  final def run(batch: PartitionBatch): Iterator[InternalRow] = {
    // The rows that the previous call returned are not needed any more.
    memory.releaseAll()
    val computedEnds = (spec.base.lower ++ spec.base.upper).toSeq
    val ties = spec.limit.toSeq.flatMap(_.ties)
    val found = emit(batch, new BaseSideBuffer(base, computedEnds, probe, ties, memory))
    batch.store.expire(Base, batch.now)
    batch.counts.expired += expireProbes(batch)
    found
  }

  /**
   * The rows to emit. Stores the new probe rows, and the base rows whose windows are not final.
   *
   * @param rows an empty buffer for the base rows to emit
   */
  protected def emit(batch: PartitionBatch, rows: BaseSideBuffer): Iterator[InternalRow]

  /** Reads the new base rows: `take` gets those with a window, the buffer the others. */
  protected def newBases(batch: PartitionBatch, rows: BaseSideBuffer)(
      take: InternalRow => Unit): Unit =
    batch.rows(Base).foreach { row =>
      if (rows.hasWindow(row)) take(row)
      else rows.withoutWindow.append(row, KeyGroups.NoGroup)
    }

  /** Stores a base row until the watermark reaches the upper end of its window. */
  protected def store(batch: PartitionBatch, row: InternalRow): Unit =
    batch.store.add(Base, upperEnd(row), row, row.getLong(base.timeOrdinal))

  /** Whether no later probe row can be in the window of a base row. */
  protected def isFinal(batch: PartitionBatch, row: InternalRow): Boolean =
    upperEnd(row) <= batch.now

  /** The first time of a base row's window, inclusive. */
  protected def lowerEnd(row: InternalRow): Long = end(row, lowerOrdinal, spec.window.lower.offset)

  /** The last time of a base row's window, inclusive. */
  protected def upperEnd(row: InternalRow): Long = end(row, upperOrdinal, spec.window.upper.offset)

  private def end(row: InternalRow, computed: Option[Int], offset: Long): Long =
    computed.fold(WindowEnd.at(row.getLong(base.timeOrdinal), offset))(row.getLong)

  /** The new probe rows with a key and a time. Those that may be read later are also stored. */
  protected def arrived(batch: PartitionBatch): Iterator[InternalRow] =
    batch.rows(Probe).filter { row =>
      val isAny = !row.isNullAt(probe.timeOrdinal) && !probeKeys.exists(row.isNullAt)
      if (isAny) {
        val time = row.getLong(probe.timeOrdinal)
        val leaves = time + spec.inBucketFor
        if (leaves > batch.now) batch.store.add(Probe, leaves, row, time) else passed(row)
      }
      isAny
    }

  /** Takes a new probe row that is not stored in a time bucket. */
  protected def passed(row: InternalRow): Unit = ()

  /** Drops the stored probe rows that no later call reads; returns their number. */
  protected def expireProbes(batch: PartitionBatch): Long = batch.store.expire(Probe, batch.now)

  /** The results of the base rows with a window, which are sorted. */
  protected def aggregates(
      batch: PartitionBatch,
      rows: BaseSideBuffer,
      arrived: Iterator[InternalRow]): Array[BlockColumn] = {
    sweep(batch, rows).results(arrived, values, sums)
  }

  /** The windows of the base rows, which it sorts. */
  protected def sweep(batch: PartitionBatch, rows: BaseSideBuffer): WindowSweep = {
    rows.block.sort()
    val buckets = batch.store.of(Probe)
    new WindowSweep(batch, buckets, probe, rows, ends(rows.block), spec.keptFor, memory)
  }

  /** The results of the base rows without a window. */
  protected def ofNone(rows: BaseSideBuffer): Array[BlockColumn] =
    values.ofNone(rows.withoutWindow.numRows)

  /** The rows of a block as they are emitted: the payload, then the results. */
  protected def emitted(block: RowBlock, results: Array[BlockColumn]): Iterator[InternalRow] =
    new BlockRowIterator(
      payload.map(block.columns(_)).toArray ++ results,
      Array.range(0, block.numRows))

  /** The lower and the upper ends of the windows of a block's rows. */
  private def ends(block: RowBlock): WindowEnds = {
    val (lower, upper) = (lowerOrdinal.isDefined, upperOrdinal.isDefined)
    new WindowEnds(
      block.endpoints(if (lower) 1 else 0),
      if (lower) 0 else spec.window.lower.offset,
      block.endpoints(if (upper) block.endpoints.length - 1 else 0),
      if (upper) 0 else spec.window.upper.offset)
  }
}
