// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.nearest

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, JoinedRow, Predicate, UnsafeProjection
}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockRow, RowBlock}
import org.apache.spark.sql.intervalsweep.streams.windows.{
  BaseSideBuffer, FinalWindows, KeyedBlock, PartitionBatch, WindowLimit, WindowRuns,
  WindowUnionSpec
}

/**
 * Reads the last or the first probe rows of each window only: as-of joins of streams, and aggregates
 * over the last n rows.
 *
 * {{{
 *                           watermark
 *   base rows                   |    x     x       stored until they are final
 *   probe rows         x  x  x  |  x    x          in time buckets
 *                            ^
 *           the last one of each key: LastRows
 * }}}
 * Invariant: of the probe rows that have left the time buckets, [[LastRows]] has the last ones of
 * each key. No window of a base row that is stored, or may still arrive, ends before such a row. So
 * a window has no other of them among its last rows.
 *
 * @param last the stored rows, if a window needs no others; see [[WindowUnionSpec.keepsLast]]
 */
private[nearest] final class LimitedWindows(spec: WindowUnionSpec, last: Option[LastRows])
    extends FinalWindows(spec) {
  import LimitedWindows.{EvictedAt, Kept}
  import WindowUnionSpec.Probe

  private val limit: WindowLimit = spec.limit.get
  private val matched = spec.matched.map(m => m.isOuter -> m.columns.map(probe.ordinal).toArray)
  private val keyOfBase = UnsafeProjection.create(base.keys, base.columns)
  private val keyOfProbe = UnsafeProjection.create(probe.keys, probe.columns)
  private val probeToUnsafe = UnsafeProjection.create(probe.types)

  /** The probe rows that leave the time buckets in this call, or never were in one. */
  private var leaving: KeyedBlock = _

  override protected def emit(
      batch: PartitionBatch,
      rows: BaseSideBuffer): Iterator[InternalRow] = {
    leaving = rows.allProbes()
    super.emit(batch, rows)
  }

  override protected def results(
      batch: PartitionBatch,
      rows: BaseSideBuffer): Iterator[InternalRow] = {
    val (probes, all) =
      sweep(batch, rows).matches(arrived(batch), addLast(batch, rows.block, _))
    val input = base.columns ++ probe.columns
    val isMatch = spec.residual.map(LimitedWindows.test(_, input, rows.block, probes))
    val runs = LimitedRuns.of(all, limit, isMatch)
    matched.fold(
      emitted(rows.block, values.of(rows.block, probes, runs)) ++
        emitted(rows.withoutWindow, ofNone(rows))) { case (isOuter, columns) =>
      def pairs(block: RowBlock, found: WindowRuns) = new MatchedRows(
        payload.map(block.columns(_)).toArray,
        columns.map(probes.columns(_)),
        found,
        isMatch,
        isOuter)
      pairs(rows.block, runs) ++ pairs(rows.withoutWindow, WindowRuns.empty(rows.withoutWindow))
    }
  }

  /** Adds the stored last rows of the keys of base rows, which are sorted. */
  private def addLast(batch: PartitionBatch, bases: RowBlock, probes: KeyedBlock): Unit =
    for (rows <- last) {
      val row = BlockRow(bases.columns)
      var group = LimitedWindows.NoGroup
      for (i <- 0 until bases.numRows) {
        val own = if (bases.groups == null) 0 else bases.groups(i)
        if (own != group) {
          group = own
          row.position = i
          for (found <- rows.of(keyOfBase(row)) if probes.read(found)) {
            batch.counts.read += 1
            probes.append(found)
          }
        }
      }
    }

  override protected def passed(row: InternalRow): Unit = if (last.isDefined) leave(row)

  private def leave(row: InternalRow): Unit = if (leaving.read(row)) leaving.append(row)

  override protected def expireProbes(batch: PartitionBatch): Long =
    last.fold(super.expireProbes(batch)) { rows =>
      for (bucket <- batch.store.of(Probe) if bucket.last <= batch.now)
        batch.store.rows(bucket).foreach(leave)
      super.expireProbes(batch)
      val numbers = batch.store.numbers
      val added = keep(rows, leaving.block)
      val evicted = evict(rows, batch)
      numbers(Kept) += added - evicted
      batch.counts.kept = numbers(Kept)
      leaving.block.numRows - added + evicted
    }

  /** Keeps the last ones of the leaving rows of each key; returns how many more rows are stored. */
  private def keep(rows: LastRows, block: RowBlock): Long = {
    block.sort()
    val groups = WindowRuns.ofGroups(block)
    val row = BlockRow(block.columns)
    groups.first.indices.iterator.filter(groups.count(_) > 0).map { g =>
      val end = groups.first(g) + groups.count(g)
      val kept = (math.max(groups.first(g), end - limit.count) until end).map { i =>
        row.position = i
        probeToUnsafe(row).copy()
      }
      rows.add(keyOfProbe(kept.head), kept)
    }.sum
  }

  /** Drops the rows that all windows have left behind, now and then: it reads all rows. */
  private def evict(rows: LastRows, batch: PartitionBatch): Long = {
    val numbers = batch.store.numbers
    val isDue = !spec.window.lower.isUnbounded && batch.now - numbers(EvictedAt) > spec.keptFor
    if (isDue) {
      numbers(EvictedAt) = batch.now
      rows.evict(batch.now - spec.keptFor)
    } else 0L
  }
}

private[nearest] object LimitedWindows {

  /** The positions of the number of kept rows, and of the time of the last eviction. */
  private val Kept = 0
  private val EvictedAt = 1
  val Numbers: Seq[Long] = Seq(0L, 0L)

  private val NoGroup = -1

  /** Evaluates a condition for row i of the base rows and row j of the probe rows. */
  private def test(
      condition: Expression,
      input: Seq[Attribute],
      bases: RowBlock,
      probes: RowBlock): (Int, Int) => Boolean = {
    val (base, probe) = (BlockRow(bases.columns), BlockRow(probes.columns))
    val pair = new JoinedRow(base, probe)
    val predicate = Predicate.create(condition, input)
    (i, j) => {
      base.position = i
      probe.position = j
      predicate.eval(pair)
    }
  }
}
