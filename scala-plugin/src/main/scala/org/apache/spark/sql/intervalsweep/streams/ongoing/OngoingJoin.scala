// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, JoinedRow, Predicate, UnsafeRow}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinCounts
import org.apache.spark.sql.intervalsweep.streams.state.{
  RunBlock, RunCompaction, SortedRunStore, StateMetadata, StoredRun
}

/**
 * Joins the intervals of a partition in one micro-batch.
 *
 * It checks the pairs that are affected by a new start, a new end or the watermark. It emits a pair
 * that is certain now and was not certain in the previous micro-batch. So each pair is emitted
 * once, in the first micro-batch in which it is certain, and no state is stored per pair.
 *
 * Cost: each affected interval adds a binary search in each run of the other side, and a scan of
 * the intervals in the range that its known endpoints allow.
 *
 * @param chunks    the packed rows of each side
 * @param metadata  the stored metadata of the partition
 * @param watermark the watermark of this micro-batch, in milliseconds
 */
private[streams] final class OngoingJoin(
    spec: OngoingJoinSpec,
    chunks: IndexedSeq[Seq[Array[Byte]]],
    metadata: StateMetadata,
    watermark: Long,
    store: SortedRunStore,
    pairs: OngoingPairs) {
  import OngoingCondition.{Holds, Unknown, endOf, startOf}

  val counts = new StreamJoinCounts
  private val before = metadata.watermark.getOrElse(0L) * 1000
  private val now = watermark * 1000

  private val stored: Map[Side, Seq[RunBlock]] = Side.all.map { side =>
    side -> metadata.runs.filter(_.side == side)
      .map(RunBlock.stored(_, OngoingJoinSpec.Marks, store))
  }.toMap
  private val intervals: Map[Side, OngoingIntervals] = Side.all.map { side =>
    side -> new OngoingIntervals(spec, side, stored(side), before, counts)
  }.toMap

  for {
    side <- Side.all
    chunk <- chunks(side.number)
    row <- RowUnpacker.unsafeRows(chunk, spec.attributes(side).size)
  } intervals(side).add(row)

  /**
   * The rows of the pairs that have become certain. Each is valid until the next one is read.
   *
   * @param save writes the metadata of the next state
   */
  def rows(save: StateMetadata => Unit): Iterator[InternalRow] = {
    val found = certain
    save(next)
    found.iterator.map(pairs.of)
  }

  private def certain: Seq[(OngoingInterval, OngoingInterval)] = {
    val found = new ArrayBuffer[(OngoingInterval, OngoingInterval)]
    def look(l: OngoingInterval, r: OngoingInterval): Unit =
      if (isCertain(l, r) && pairs.holds(l, r)) { found += l -> r; () }
    for (l <- intervals(LeftSide).due(now); r <- candidates(LeftSide, l)) look(l, r)
    for {
      r <- intervals(RightSide).due(now)
      l <- candidates(RightSide, r) if !intervals(LeftSide).isDue(l, now)
    } look(l, r)
    found.toSeq
  }

  /** The intervals of the other side, of the same key, whose start is in the range for a match. */
  private def candidates(side: Side, interval: OngoingInterval): Iterator[OngoingInterval] = {
    val own = Map(startOf(side) -> interval.start, endOf(side) -> interval.end)
      .filter(_._2 != Unknown)
    val theirs = startOf(side.other)
    val most = for (d <- spec.formula.distances if d.of == theirs; value <- own.get(d.from))
      yield value + d.limit
    val least = for (d <- spec.formula.distances if d.from == theirs; value <- own.get(d.of))
      yield value - d.limit
    intervals(side.other).starting(
      interval.key,
      least.maxOption.getOrElse(Long.MinValue),
      most.minOption.getOrElse(Long.MaxValue))
  }

  private val ends = new Array[Long](4)

  /** Whether a pair is certain now and was not certain in the previous micro-batch. */
  private def isCertain(l: OngoingInterval, r: OngoingInterval): Boolean = {
    def decision(left: Long, right: Long, at: Long) = {
      ends(0) = l.start
      ends(1) = left
      ends(2) = r.start
      ends(3) = right
      spec.formula.decide(ends, at)
    }
    decision(l.end, r.end, now) == Holds &&
    (l.isNew || r.isNew || decision(l.was, r.was, before) != Holds)
  }

  /** The next state: ongoing intervals, and ended intervals with undecided pairs. */
  private def next: StateMetadata = {
    counts.expired = intervals.values.map(_.expired(now)).sum
    counts.stored =
      metadata.values.head + intervals.values.map(_.added(now)).sum - counts.expired
    val runs = Side.all.flatMap(compacted)
    counts.storedRuns = runs.size
    metadata.copy(watermark = Some(watermark), values = Seq(counts.stored), runs = runs)
  }

  private def compacted(side: Side): Seq[StoredRun] = {
    val rows = intervals(side).remaining(now)
    val added = RunBlock.ofNewRows(side, rows, OngoingJoinSpec.Marks, store)
    new RunCompaction(store, spec.fields(side), now)(stored(side), added)
  }
}

/** Builds the returned rows from pairs of intervals. A task creates it once. */
private[streams] final class OngoingPairs(spec: OngoingJoinSpec) {
  private val left = new UnsafeRow(spec.attributes(LeftSide).size)
  private val right = new UnsafeRow(spec.attributes(RightSide).size)
  private val pair = new JoinedRow
  private val residual: Option[BasePredicate] =
    spec.residual.map(Predicate.create(_, Side.all.flatMap(spec.attributes)))
  residual.foreach(_.initialize(0))

  private def joined(l: OngoingInterval, r: OngoingInterval): InternalRow =
    pair(l.rows.point(left, l.at), r.rows.point(right, r.at))

  def holds(l: OngoingInterval, r: OngoingInterval): Boolean = residual.forall(_.eval(joined(l, r)))

  def of(both: (OngoingInterval, OngoingInterval)): InternalRow = joined(both._1, both._2)
}
