// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import java.util.{BitSet => JBitSet}

import scala.reflect.ClassTag

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.state.SortedRows

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
 * binary search ([[BoxProbe]]); new rows are the boxes if the condition can be read so.
 * [[RunCompaction]] bounds the number of stored runs. A run is read for evictions only when its
 * first row expires.
 *
 * @param partition the number of the state partition
 * @param chunks    the packed rows of each side
 * @param head      the stored metadata of the partition
 * @param before    the watermark of the previous micro-batch, in milliseconds, in a join by event
 *                  time
 * @param watermark the watermark of this micro-batch, likewise
 */
final class SymmetricSweepJoin(
    spec: StreamJoinSpec,
    partition: Int,
    chunks: IndexedSeq[Seq[Array[Byte]]],
    head: JoinStateMetadata,
    before: Option[Long],
    watermark: Option[Long],
    isTimer: Boolean,
    state: JoinStateStore,
    readers: JoinedRowProjector)
    extends Iterator[InternalRow] {
  import SymmetricSweepJoin._

  private val context = Option(TaskContext.get())
  private lazy val pairCounts = new MatchCounter(spec, readers)
  private val incoming = new InputBuffer(spec, partition, head.latest, before.map(_ * 1000))
  sides.foreach(side => chunks(StreamJoinSchema.number(side)).foreach(incoming.add(side, _)))

  /** For each side, the clock up to which all rows of the other side have arrived. */
  private val progress: Map[Side, Long] = sides.map { side =>
    side -> watermark.map(reached)
      .getOrElse(spec.arrived(incoming.latest(side.other)))
  }.toMap

  /**
   * The clock up to which all rows have arrived. In real-time mode more rows of the micro-batch may
   * follow. They are above the watermark of the previous micro-batch, which the first call of a
   * micro-batch finds in the metadata.
   */
  private def reached(watermark: Long): Long =
    if (!spec.isRealTime) watermark * 1000
    else if (hasMoved) (head.timer - 1) * 1000
    else Long.MinValue

  private def hasMoved: Boolean = head != JoinStateMetadata.Empty &&
    watermark.exists(_ >= head.timer)

  private val owned = incoming.blocks(isOwned = true)
  private val replicated = incoming.blocks(isOwned = false)
  private val stored: Map[Side, Seq[Block]] = sides.map { side =>
    side ->
      head.storedRuns.filter(_.side == side).map(storedRun => new Block(side, Some(storedRun)))
  }.toMap

  private var ready: Iterator[InternalRow] =
    unmatched(incoming.unmatchedRows.map { case (side, rows, i) =>
      EvictedRow(side, rows, i, partners = 0)
    }) ++
      pairs
  private var isFinished = false

  override def hasNext: Boolean = {
    if (!ready.hasNext && !isFinished) {
      isFinished = true
      ready = unmatched(finish())
    }
    ready.hasNext
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    ready.next()
  }

  /** The counts of dropped and stored rows; complete when all rows have been read. */
  def counts: InternalRow = incoming.counts.row

  /** Rows of one side: a sorted run of the state, or new rows. */
  private final class Block(
      val side: Side,
      val storedRun: Option[SortedRun],
      known: SortedRows = null) {
    lazy val rows: SortedRows =
      if (known != null) known else state.rows(storedRun.get, spec.fields(side))
    lazy val done: JBitSet =
      if (isTracked) storedRun.fold(new JBitSet)(state.doneRows) else new JBitSet
    var isChanged = false

    val isTracked: Boolean = spec.output.isTracked(side)

    val isCounted: Boolean = spec.isCounted && isTracked

    /** The match counts of the rows. */
    lazy val partners: Array[Long] =
      if (!isCounted) Array.emptyLongArray
      else storedRun.fold(new Array[Long](rows.size))(state.partners)

    def setDone(i: Int): Unit = { done.set(i); isChanged = true }

    def count(i: Int, more: Int): Unit = { partners(i) += more; isChanged = true }

    def partnersOf(i: Int): Long = if (isCounted) partners(i) else 0

    /** Whether a later row may match a row. */
    def isAlive(i: Int): Boolean =
      rows.expiries(i) > progress(side) && !(spec.endsAtMatch(side) && done.get(i))
  }

  private def block(side: Side, rows: Map[Side, SortedRows]): Block =
    new Block(side, None, rows(side))

  private val ownedBlocks = sides.map(side => side -> block(side, owned)).toMap
  private val replicatedBlocks = sides.map(side => side -> block(side, replicated)).toMap

  /** The pairs of blocks to join. Each pair of rows is in one of them. */
  private def meetings: Iterator[(Side, Block, Block)] = {
    val (l, r) = (LeftSide, RightSide)
    // Only the partition that stores a row counts its matches.
    val replicated = sides.filterNot(s => spec.isCounted && s == l).map(replicatedBlocks)
    def mine(side: Side) = Iterator(ownedBlocks(side)) ++ replicated.filter(_.side == side)
    val ofLeft = for {
      mine <- mine(l)
      theirs <- stored(r).iterator
    } yield (l: Side, mine, theirs)
    val ofRight = for {
      mine <- mine(r)
      theirs <- stored(l).iterator
    } yield (r: Side, theirs, mine)
    val both = mine(r).map(theirs => (l: Side, ownedBlocks(l), theirs))
    (ofLeft ++ ofRight ++ both).filter { case (newSide, left, right) =>
      (if (newSide == l) left else right).rows.size > 0
    }
  }

  private def pairs: Iterator[InternalRow] = meetings.flatMap { case (newSide, left, right) =>
    context.foreach(_.killTaskIfInterrupted())
    if (left.rows.size == 0 || right.rows.size == 0) Iterator.empty
    else if (spec.isCounted) {
      pairCounts.count(newSide, left.rows, right.rows)(left.count)
      Iterator.empty
    } else new Pairs(newSide, left, right)
  }

  /** The pairs of matching rows of two blocks. */
  private final class Pairs(newSide: Side, left: Block, right: Block)
      extends Iterator[InternalRow] {
    private val sweeps = spec.pairings(newSide).sweeps
    private val residual = readers.residual(newSide)
    private val (leftRows, rightRows) = (left.rows, right.rows)
    private val firstOnly = sides.find(spec.endsAtMatch).orNull
    private val isReturned = firstOnly == null || spec.output.unpaired(firstOnly).contains(true)
    private var number = -1
    private var search: BoxProbe = _
    private var found: InternalRow = _

    override def hasNext: Boolean = {
      while (found == null && go()) ()
      found != null
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException
      val row = found
      found = null
      row
    }

    /** Examines the next pair; returns whether there may be another one. */
    private def go(): Boolean =
      if (search != null && search.next()) { look(); true }
      else {
        number += 1
        val isMore = number < sweeps.size
        if (isMore) {
          search = new BoxProbe(sweeps(number), leftRows, rightRows)
          residual.foreach(_.of(number))
        }
        isMore
      }

    private def look(): Unit = {
      val (l, r) = (search.left, search.right)
      if (!isKnown(l, r)) {
        leftRows.point(readers.left, l)
        rightRows.point(readers.right, r)
        if (residual.isEmpty || residual.get.holds) {
          if (left.isTracked) left.setDone(l)
          if (right.isTracked) right.setDone(r)
          if (isReturned)
            found = if (firstOnly == null) readers.current else readers.unmatched(firstOnly)
        }
      }
    }

    private def isKnown(l: Int, r: Int): Boolean = firstOnly != null &&
      (if (firstOnly == LeftSide) left.done.get(l) else right.done.get(r))
  }

  /** A row that is emitted as an unmatched row, or with its match count. */
  private case class EvictedRow(side: Side, rows: SortedRows, number: Int, partners: Long)

  private def unmatched(rows: Iterator[EvictedRow]): Iterator[InternalRow] =
    rows.map { row =>
      row.rows.point(readers.reader(row.side), row.number)
      if (spec.isCounted) readers.counted(row.partners) else readers.unmatched(row.side)
    }

  /** Writes the new state; returns the evicted rows to emit. */
  private def finish(): Iterator[EvictedRow] = {
    val (evicted, kept) = sides.map(finish).unzip
    val timer = watermark.fold(0L)(_ + 1)
    val next = JoinStateMetadata(kept.flatten, incoming.latest, timer)
    val added = ownedBlocks.values.map(aliveIn(_).toLong).sum
    incoming.counts.expired = head.rows + added - next.rows
    if (!spec.isRealTime || hasMoved) {
      incoming.counts.storedRuns = next.storedRuns.size
      incoming.counts.stored = next.rows
    }
    if (next != head) {
      // Spark deletes a timer that has fired.
      if (timer != head.timer) state.setTimer(if (isTimer) 0 else head.timer, timer)
      state.update(next, spec.fingerprint)
    }
    evicted.iterator.flatten
  }

  private def finish(side: Side): (Iterator[EvictedRow], Seq[SortedRun]) = {
    val now = progress(side)
    val blocks = stored(side)
    val (due, others) = blocks.partition(b => b.storedRun.get.first <= now || b.isChanged)
    val evicted = (due :+ ownedBlocks(side)).map(b => b -> leave(b, now))
    // Load match counts now: `state.remove` below deletes them before the iterator reads them.
    evicted.foreach { case (b, numbers) => if (numbers.nonEmpty) b.partners }
    // Rewrite runs in which at most half of the rows are live.
    val (thin, thick) = due.partition(b => aliveIn(b) <= b.rows.size / 2)
    val rest = thick.map { b =>
      if (b.isChanged && b.isTracked) state.putDone(b.storedRun.get, b.done)
      if (b.isChanged && b.isCounted) state.putPartners(b.storedRun.get, b.partners)
      b -> b.storedRun.get.copy(first = firstAlive(b))
    } ++ others.map(b => b -> b.storedRun.get)
    val fresh = (thin.filter(aliveIn(_) > 0) :+ ownedBlocks(side)).filter(aliveIn(_) > 0)
    thin.foreach(b => state.remove(b.storedRun.get))
    val written = if (fresh.isEmpty) None else Some(write(side, fresh))
    val all = rest ++ written
    val merged = RunCompaction.of(all.map(_._2))
    val storedRuns =
      if (merged.isEmpty) all.map(_._2)
      else {
        val (together, apart) = all.partition(p => merged.contains(p._2))
        val one = write(side, together.map(_._1))
        together.foreach(p => state.remove(p._2))
        apart.map(_._2) :+ one._2
      }
    val rows = evicted.iterator.flatMap { case (b, numbers) =>
      numbers.iterator.map(i => EvictedRow(side, b.rows, i, b.partnersOf(i)))
    }
    (rows, storedRuns)
  }

  /** The rows that have expired without a match and that the join returns. Marks them as done. */
  private def leave(block: Block, now: Long): Array[Int] =
    if (!spec.output.keepsUnmatched(block.side)) Array.emptyIntArray
    else {
      val rows = block.rows
      val numbers =
        RunCompaction.numbers(rows.size, i => rows.expiries(i) <= now && !block.done.get(i))
      numbers.foreach(block.setDone)
      numbers
    }

  private def aliveIn(block: Block): Int = {
    var n = 0
    var i = 0
    while (i < block.rows.size) { if (block.isAlive(i)) n += 1; i += 1 }
    n
  }

  private def firstAlive(block: Block): Long = {
    var first = Long.MaxValue
    var i = 0
    while (i < block.rows.size) {
      if (block.isAlive(i)) first = math.min(first, block.rows.expiries(i))
      i += 1
    }
    first
  }

  /** Writes the live rows of some blocks as one sorted run. */
  private def write(side: Side, blocks: Seq[Block]): (Block, SortedRun) = {
    val (rows, before) =
      RunCompaction.merge(blocks.map(b => (b.rows, b.isAlive(_))), spec.fields(side))
    val storedRun = RunCompaction.storedRun(side, rows)
    val block = new Block(side, None, rows)
    state.put(storedRun, rows)
    // Per-row state (done, match counts), in input order; `before` maps merged to input order.
    def known[A: ClassTag](of: (Block, Int) => A): Array[A] = blocks.toArray
      .flatMap(b => RunCompaction.numbers(b.rows.size, b.isAlive).map(of(b, _)))
    if (block.isCounted) {
      val partners = known(_.partners(_))
      for (i <- 0 until rows.size) block.partners(i) = partners(before(i))
      state.putPartners(storedRun, block.partners)
    }
    if (block.isTracked && !spec.endsAtMatch(side)) {
      val done = known(_.done.get(_))
      for (i <- 0 until rows.size) if (done(before(i))) block.setDone(i)
      if (!block.done.isEmpty) state.putDone(storedRun, block.done)
    }
    (block, storedRun)
  }
}

object SymmetricSweepJoin {
  private val sides = Seq[Side](LeftSide, RightSide)
}
