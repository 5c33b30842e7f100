// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.state.{RowBuffer, RowFields, SortedRows}

/**
 * A cache of the sorted runs that an executor has read or written, as long as there is memory. So
 * a run is not read again in each micro-batch. A run never changes, so it is never outdated.
 */
private object RunCache {
  private val Most = 4096
  private val storedRuns =
    new java.util.LinkedHashMap[Long, java.lang.ref.SoftReference[SortedRows]](
      16,
      0.75f,
      true) {
      override def removeEldestEntry(
          eldest: java.util.Map.Entry[Long, java.lang.ref.SoftReference[SortedRows]]): Boolean =
        size > Most
    }

  def get(id: Long)(read: => SortedRows): SortedRows = {
    val known = storedRuns.synchronized(Option(storedRuns.get(id))).flatMap(r => Option(r.get))
    known.getOrElse {
      val rows = read
      put(id, rows)
      rows
    }
  }

  def put(id: Long, rows: SortedRows): Unit =
    storedRuns.synchronized { storedRuns.put(id, new java.lang.ref.SoftReference(rows)); () }

  def remove(id: Long): Unit = storedRuns.synchronized { storedRuns.remove(id); () }
}

/**
 * Selects and merges sorted runs of a side, so that a probe searches few of them.
 *
 * Rule (size-tiered, factor 4): a run of n rows has level floor(log4(n)). The lowest level with at
 * least 4 runs is merged into one run, at most one level per side and micro-batch. Runs of 16 MiB
 * or more are not merged.
 *
 * Bound: the merged run of 4 runs of level k has at least 4^(k+1) rows, so it has a higher level.
 * Hence compaction rewrites each row at most about log4(n) times, for n rows in the largest run.
 * Evictions add to this: a merge writes only live rows, and [[SymmetricSweepJoin]] rewrites a run
 * in which at most half of the rows are live. These rewrites are paid for by the evicted rows.
 */
object RunCompaction {

  /** The number of runs of a level that are merged. */
  private val Together = 4

  /** About the largest size of a merged run: runs of a quarter of it or more are not merged. */
  val LargestBytes: Int = 64 << 20

  /** The runs to merge; empty if each level has too few runs. */
  def of(storedRuns: Seq[SortedRun]): Seq[SortedRun] = {
    val small = storedRuns.filter(_.bytes < LargestBytes / Together)
    val levels = small.groupBy(p => (31 - Integer.numberOfLeadingZeros(p.rows | 1)) / 2)
    levels.toSeq.sortBy(_._1).map(_._2).find(_.size >= Together).getOrElse(Nil)
  }

  /**
   * Merges the kept rows of sorted blocks. The function maps a row to its place among the kept rows
   * of the blocks, one block after the other.
   */
  def merge(
      blocks: Seq[(SortedRows, Int => Boolean)],
      fields: RowFields): (SortedRows, Int => Int) = blocks match {
    case Seq((rows, isKept)) if (0 until rows.size).forall(isKept) => (rows, identity)
    case _ => SortedRows.sorted(together(blocks), fields)
  }

  private def together(blocks: Seq[(SortedRows, Int => Boolean)]): RowBuffer = {
    val all = RowBuffer.like(blocks.map(_._1.rows))
    blocks.foreach { case (rows, isKept) =>
      var i = 0
      while (i < rows.size) {
        if (isKept(i)) all.add(rows.rows.data, rows.rows.offset(i), rows.rows.length(i))
        i += 1
      }
    }
    all
  }

  def storedRun(side: Side, rows: SortedRows): SortedRun = SortedRun(
    side,
    SortedRun.newId(),
    rows.size,
    rows.rows.offset(rows.size),
    rows.expiries.min,
    rows.expiries.max)

  /** The numbers of the rows that are taken, in ascending order. */
  def numbers(size: Int, isTaken: Int => Boolean): Array[Int] = {
    val taken = new ArrayBuffer[Int]
    var i = 0
    while (i < size) { if (isTaken(i)) taken += i; i += 1 }
    taken.toArray
  }
}
