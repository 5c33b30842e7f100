// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

/**
 * Writes the sorted runs of a side at the end of a micro-batch, and merges some of them, so that a
 * probe searches few.
 *
 * Rule (size-tiered, factor 4): a run of n rows has level floor(log4(n)). The lowest level with at
 * least 4 runs is merged into one run, at most one level per side and micro-batch. Runs of 16 MiB
 * or more are not merged.
 *
 * Bound: the merged run of 4 runs of level k has at least 4^(k+1) rows, so it has a higher level.
 * Hence compaction rewrites each row at most about log4(n) times, for n rows in the largest run.
 * Evictions add to this: a merge writes only live rows, and a run in which at most half of the rows
 * are live is rewritten. These rewrites are paid for by the evicted rows.
 *
 * @param now rows that expire at this time or before it leave the state
 */
final class RunCompaction(store: SortedRunStore, fields: RowFields, now: Long) {

  /**
   * Writes what stays of a side's runs and of its new rows; returns the runs of the next state.
   * Runs in which no row expires or has changed are not read.
   */
  def apply(stored: Seq[RunBlock], added: RunBlock): Seq[StoredRun] = {
    val (due, others) = stored.partition(b => b.run.get.first <= now || b.isChanged)
    val (thin, thick) = due.partition(b => b.alive(now).length <= b.rows.size / 2)
    val kept = others.map(b => b -> b.run.get) ++ thick.map(b => b -> b.update(now))
    val written = merged(thin :+ added)
    thin.foreach(b => store.remove(b.run.get))
    compacted(kept ++ written)
  }

  /** The runs after at most one merge. */
  private def compacted(all: Seq[(RunBlock, StoredRun)]): Seq[StoredRun] = {
    val chosen = RunCompaction.of(all.map(_._2)).toSet
    if (chosen.isEmpty) all.map(_._2)
    else {
      val (together, apart) = all.partition { case (_, run) => chosen(run) }
      val one = merged(together.map(_._1))
      together.foreach { case (_, run) => store.remove(run) }
      apart.map(_._2) ++ one.map(_._2)
    }
  }

  /** Writes the live rows of some blocks as one run; None if there are none. */
  private def merged(blocks: Seq[RunBlock]): Option[(RunBlock, StoredRun)] = {
    val alive = blocks.map(b => b -> b.alive(now)).filter(_._2.nonEmpty)
    Option.when(alive.nonEmpty) {
      val (rows, before) = sorted(alive)
      val (side, marks) = (alive.head._1.side, alive.head._1.marks)
      val block = RunBlock.ofNewRows(side, rows, marks, store)
      copyMarks(alive, block, before)
      (block, block.putMarks(store.write(side, rows)))
    }
  }

  /**
   * The given rows of some blocks, sorted. The function maps a row to its place among the given
   * rows of the blocks, one block after the other.
   */
  private def sorted(alive: Seq[(RunBlock, Array[Int])]): (SortedRows, Int => Int) = alive match {
    case Seq((block, numbers)) if numbers.length == block.rows.size => (block.rows, identity)
    case _ =>
      val all = RowBuffer.like(alive.map(_._1.rows.rows))
      for ((block, numbers) <- alive; i <- numbers)
        all.add(block.rows.rows.data, block.rows.rows.offset(i), block.rows.rows.length(i))
      SortedRows.sorted(all, fields)
  }

  private def copyMarks(
      alive: Seq[(RunBlock, Array[Int])],
      to: RunBlock,
      before: Int => Int): Unit = {
    val counts =
      if (to.marks.hasCounts) alive.flatMap { case (b, numbers) => numbers.map(b.counts) }.toArray
      else Array.emptyLongArray
    for (i <- counts.indices) to.addMatches(i, counts(before(i)))
    // Rows that leave when they are done are not alive, so none of these is done.
    if (to.marks.hasDone && !to.marks.doneLeaves) {
      val done = alive.flatMap { case (b, numbers) => numbers.map(b.done.get) }.toArray
      for (i <- done.indices) if (done(before(i))) to.setDone(i)
    }
  }
}

object RunCompaction {

  /** The number of runs of a level that are merged. */
  private val Together = 4

  /** About the largest size of a merged run: runs of a quarter of it or more are not merged. */
  val LargestBytes: Int = 64 << 20

  /** The runs to merge; empty if each level has too few runs. */
  private[state] def of(runs: Seq[StoredRun]): Seq[StoredRun] = {
    val small = runs.filter(_.bytes < LargestBytes / Together)
    val levels = small.groupBy(r => (63 - java.lang.Long.numberOfLeadingZeros(r.rows | 1)) / 2)
    levels.toSeq.sortBy(_._1).map(_._2).find(_.size >= Together).getOrElse(Nil)
  }
}
