// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.state.{
  RunBlock, RunCompaction, SortedRows, SortedRunStore, StateMetadata, StoredRun
}

/**
 * The input of a partition in a micro-batch, or one row of it in real-time mode.
 *
 * @param partition the number of the state partition
 * @param chunks    the packed rows of each side
 * @param metadata  the stored metadata of the partition
 * @param before    the watermark of the previous micro-batch, in milliseconds, in a join by event
 *                  time
 * @param watermark the watermark of this micro-batch, likewise
 */
private[streams] final case class JoinBatch(
    partition: Int,
    chunks: IndexedSeq[Seq[Array[Byte]]],
    metadata: StateMetadata,
    before: Option[Long],
    watermark: Option[Long]) {

  /** Whether the watermark has moved since the last call. */
  def hasMoved: Boolean =
    metadata.watermark.exists(stored => watermark.exists(_ > stored))
}

/**
 * Joins the rows of a partition in one micro-batch: the symmetric hash join of Spark, with sorted
 * runs instead of hash tables.
 * {{{
 *                        stored rows of s     new rows of s
 *   stored rows of r           -                  (2)            pairs, emitted as they are found
 *   new rows of r             (1)                 (3)
 *
 *   then   expired rows are evicted; the join emits those without a match if it returns such rows
 *          new rows that may still match become a sorted run of the state
 * }}}
 * Invariant: each pair is found once, in the micro-batch of its later row. `JoinWatermarks` says
 * why an expired row has no later match.
 *
 * Cost: m new rows are sorted in O(m log m). Each box is looked up in each block of points by
 * binary search (`BoxSearch`); new rows are the boxes if the condition can be read so.
 * [[RunCompaction]] bounds the number of stored runs. A run is read for evictions only when its
 * first row expires.
 */
private[streams] final class SymmetricSweepJoin(
    spec: StreamJoinSpec,
    batch: JoinBatch,
    store: SortedRunStore,
    readers: JoinedRowProjector) {
  private val context = Option(TaskContext.get())
  private lazy val matchCounter = new MatchCounter(spec, readers)
  private val incoming = new InputBuffer(
    spec,
    batch.partition,
    Side.all.map(side => side -> batch.metadata.values(side.number)).toMap,
    batch.before.map(_ * 1000))
  Side.all.foreach(side => batch.chunks(side.number).foreach(incoming.add(side, _)))

  private val stored: Map[Side, Seq[RunBlock]] = bySide { side =>
    batch.metadata.runs.filter(_.side == side).map(RunBlock.stored(_, spec.marks(side), store))
  }
  private val owned = newRows(isOwned = true)
  private val replicated = newRows(isOwned = false)

  private def bySide[A](of: Side => A): Map[Side, A] = Side.all.map(s => s -> of(s)).toMap

  private def newRows(isOwned: Boolean): Map[Side, RunBlock] = {
    val rows = incoming.blocks(isOwned)
    bySide(side => RunBlock.ofNewRows(side, rows(side), spec.marks(side), store))
  }

  /** For each side, the clock up to which all rows of the other side have arrived. */
  private val progress: Map[Side, Long] = bySide { side =>
    batch.watermark.map(reached).getOrElse(spec.arrived(incoming.latest(side.other)))
  }

  /**
   * The clock up to which all rows have arrived. In real-time mode more rows of the micro-batch may
   * follow. They are above the watermark of the previous micro-batch, which the first call of a
   * micro-batch finds in the metadata.
   */
  private def reached(watermark: Long): Long =
    if (!spec.isRealTime) watermark * 1000
    else if (batch.hasMoved) batch.metadata.watermark.get * 1000
    else Long.MinValue

  /** The counts of dropped and stored rows; complete when all rows have been read. */
  def counts: StreamJoinCounts = incoming.counts

  /**
   * The rows that the join returns. Each is valid until the next one is read. When the last one has
   * been read, the state is written.
   *
   * @param save writes the metadata of the next state
   */
  def rows(save: StateMetadata => Unit): Iterator[InternalRow] =
    incoming.unmatchedRows.map { case (side, rows, i) => evicted(side, rows, i, 0) } ++ pairs ++
      finish(save)

  private def pairs: Iterator[InternalRow] = blockPairs.flatMap { case (newSide, left, right) =>
    context.foreach(_.killTaskIfInterrupted())
    if (left.rows.size == 0 || right.rows.size == 0) Iterator.empty
    else if (spec.isCounted) {
      matchCounter.count(newSide, left.rows, right.rows)((i, n) => left.addMatches(i, n))
      Iterator.empty
    } else new PairIterator(spec, readers, newSide, left, right)
  }

  /** The pairs of blocks to join, with the side of the new rows. Each pair of rows is in one. */
  private def blockPairs: Iterator[(Side, RunBlock, RunBlock)] = {
    val (l, r) = (LeftSide, RightSide)
    // Only the partition that stores a row counts its matches.
    def mine(side: Side): Seq[RunBlock] =
      owned(side) +: Seq(replicated(side)).filterNot(_ => spec.isCounted && side == l)
    val ofLeft = for (mine <- mine(l); theirs <- stored(r)) yield (l: Side, mine, theirs)
    val ofRight = for (mine <- mine(r); theirs <- stored(l)) yield (r: Side, theirs, mine)
    val ofBoth = mine(r).map(theirs => (l: Side, owned(l), theirs))
    (ofLeft.iterator ++ ofRight ++ ofBoth).filter { case (newSide, left, right) =>
      (if (newSide == l) left else right).rows.size > 0
    }
  }

  /** Evicts expired rows and writes the new state; returns the evicted rows to emit. */
  private def finish(save: StateMetadata => Unit): Iterator[InternalRow] = {
    val evicted = Side.all.map(evict)
    val added = Side.all.map(side => owned(side).alive(progress(side)).length.toLong).sum
    val next = batch.metadata.copy(
      watermark = batch.watermark,
      values = Side.all.map(incoming.latest),
      runs = Side.all.flatMap(compacted))
    counts.expired = batch.metadata.rows + added - next.rows
    if (!spec.isRealTime || batch.hasMoved) {
      counts.storedRuns = next.runs.size
      counts.stored = next.rows
    }
    if (next != batch.metadata) save(next)
    evicted.iterator.flatten
  }

  private def compacted(side: Side): Seq[StoredRun] =
    new RunCompaction(store, spec.fields(side), progress(side))(stored(side), owned(side))

  /**
   * The rows of a side that have expired without a match, or with their counts, if the join returns
   * them. They are marked as done.
   */
  private def evict(side: Side): Iterator[InternalRow] =
    if (!spec.output.keepsUnmatched(side)) Iterator.empty
    else {
      val now = progress(side)
      val due = stored(side).filter(b => b.run.get.first <= now || b.isChanged) :+ owned(side)
      val expired = due.map { block =>
        val numbers = block.rowsThat(i => block.rows.expiries(i) <= now && !block.done.get(i))
        numbers.foreach(block.setDone)
        // Counts are read now: the state of the block may be deleted before its rows are emitted.
        (block.rows, numbers.map(i => (i, block.matchesOf(i))))
      }
      for ((rows, numbers) <- expired.iterator; (i, matches) <- numbers.iterator)
        yield evicted(side, rows, i, matches)
    }

  /** A row as an unmatched row, or with its match count. */
  private def evicted(side: Side, rows: SortedRows, i: Int, matches: Long): InternalRow = {
    rows.point(readers.reader(side), i)
    if (spec.isCounted) readers.counted(matches) else readers.unmatched(side)
  }
}
