// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, BlockRow, IntColumn, RowBlock
}
import org.apache.spark.sql.intervalsweep.streams.state.StoredRun
import org.apache.spark.sql.types.BooleanType

/**
 * Emits base rows at once, again when a probe row arrives in their window, and again when the
 * window is final. A row that waits is stored again with its revision number.
 */
private[streams] final class EagerWindows(union: WindowUnionSpec) extends WindowUnionRun(union) {
  import WindowUnionSpec.Base

  private lazy val toUnsafe = UnsafeProjection.create(base.types)
  private val revision = base.ordinal(union.base.revision.get)

  override protected def emit(
      batch: PartitionBatch,
      rows: BaseSideBuffer): Iterator[InternalRow] = {
    val news = newProbes(batch, rows)
    takeStored(batch, news, rows)
    newBases(batch, rows)(rows.keyed.append)
    val found = aggregates(batch, rows, news.all)
    val revisions = numbered(batch, rows.block)
    val withoutWindow = onlyRevisions(rows.withoutWindow)
    emitted(rows.block, found ++ revisions.columns) ++
      emitted(rows.withoutWindow, ofNone(rows) ++ withoutWindow.columns)
  }

  private def newProbes(batch: PartitionBatch, rows: BaseSideBuffer): NewProbeIndex = {
    val news = rows.allProbes()
    for (row <- arrived(batch) if news.read(row)) news.append(row)
    new NewProbeIndex(news, rows.like(news))
  }

  /** Takes the stored rows to emit again. Buckets without these rows are not rewritten. */
  private def takeStored(
      batch: PartitionBatch,
      news: NewProbeIndex,
      rows: BaseSideBuffer): Unit = {
    def isOut(row: InternalRow): Boolean =
      isFinal(batch, row) || news.areIn(row, lowerEnd(row), upperEnd(row))
    def isDue(bucket: StoredRun): Boolean =
      bucket.first <= batch.now ||
        news.reach(bucket.minTime - union.pre, bucket.maxTime + union.fol)
    for (bucket <- batch.store.of(Base).filter(isDue).toSeq)
      if (batch.store.rows(bucket).exists(isOut)) {
        batch.store.rows(bucket).foreach { row =>
          if (!isOut(row)) store(batch, row)
          else if (rows.hasWindow(row)) rows.keyed.append(row)
        }
        batch.store.drop(bucket)
      }
  }

  /** Numbers the next revision of each row, and stores the rows that may have a later one. */
  private def numbered(batch: PartitionBatch, block: RowBlock): Revisions = {
    val revisions = new Revisions(block, revision)
    for (i <- 0 until block.numRows) {
      val isLast = isFinal(batch, revisions.at(i))
      revisions.raise(i, isLast)
      if (!isLast) store(batch, toUnsafe(revisions.at(i)))
    }
    batch.counts.revisions += block.numRows
    revisions
  }

  /** The revisions of rows without a window: one for each row, which is final. */
  private def onlyRevisions(block: RowBlock): Revisions = {
    val revisions = new Revisions(block, revision)
    (0 until block.numRows).foreach(revisions.raise(_, isFinal = true))
    revisions
  }
}

/**
 * The revision numbers of the base rows of a block, and whether a revision is final.
 *
 * @param ordinal the column with the revision number
 */
private final class Revisions(block: RowBlock, ordinal: Int) {
  private val row = BlockRow(block.columns)
  private val revision = block.columns(ordinal).asInstanceOf[IntColumn]
  private val last = BlockColumn(BooleanType).asInstanceOf[IntColumn]
  last.grow(block.numRows)

  def columns: Array[BlockColumn] = Array(revision, last)

  /** Numbers the next revision of row i. */
  def raise(i: Int, isFinal: Boolean): Unit = {
    revision.values(i) += 1
    last.values(i) = if (isFinal) 1 else 0
  }

  /** Row i, valid until the next call. */
  def at(i: Int): InternalRow = {
    row.position = i
    row
  }
}

/**
 * The new probe rows of a micro-batch, sorted by key and time.
 *
 * @param rows    the rows, with their time as the endpoint
 * @param ofBases a block that maps the keys of base rows to the groups of `rows`
 */
private final class NewProbeIndex(rows: KeyedBlock, ofBases: KeyedBlock) {
  private val block = rows.block
  block.sort()
  private val times = block.endpoints(0)
  private val groups = block.groupOffsets
  private val (first, last) = extent

  private def extent: (Long, Long) = {
    val own = times.iterator.take(block.numRows)
    own.foldLeft((Long.MaxValue, Long.MinValue)) { case ((low, high), t) =>
      (math.min(low, t), math.max(high, t))
    }
  }

  /** All rows. Each row is valid until the next one is read. */
  def all: Iterator[InternalRow] =
    new BlockRowIterator(block.columns, Array.range(0, block.numRows))

  /** Whether rows of any key may have a time from `lower` to `upper`. */
  def reach(lower: Long, upper: Long): Boolean = first <= upper && last >= lower

  /** Whether rows are in the window of a base row: O(log n). */
  def areIn(base: InternalRow, lower: Long, upper: Long): Boolean =
    reach(lower, upper) && lower <= upper && ofBases.read(base) && {
      val group = ofBases.group
      group >= 0 && group + 1 < groups.length && {
        val end = groups(group + 1)
        val at = java.util.Arrays.binarySearch(times, groups(group), end, lower)
        // If the time is not found, the result encodes where to insert it.
        at >= 0 || -at - 1 < end && times(-at - 1) <= upper
      }
    }
}
