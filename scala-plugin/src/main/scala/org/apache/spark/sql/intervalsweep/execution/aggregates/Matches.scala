// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch

/** The matches of one row: aggregates over the rows of the other side that it is paired with. */
trait Matches {

  def block: RowBlock
  def rows: Long

  /** The number of matches that are not NULL in a column. */
  def count(column: Int): Long

  /** The sum of an integral column. */
  def sum(column: Int): Long

  /** The sum of a floating-point column. */
  def doubleSum(column: Int): Double

  /**
   * The position of the match with the least or the greatest value of a column; -1 if all are NULL.
   */
  def extreme(column: Int, kind: RunKind): Int
}

/** The matches of the boxes of a batch, of one box after another. */
trait BatchMatches extends Matches {

  /** The batch. */
  def runs: RunBatch

  /** Moves to a place of the batch. */
  def set(place: Int): Unit

  /** The sums of an integral column, by place. */
  def sums(column: Int): Array[Long]
}

/** Matches that are a run, that is consecutive points. The runs are those of a batch. */
final class RunMatches(override val block: RowBlock) extends BatchMatches {
  private val tables = block.tables
  private val counts = new Array[Array[Int]](block.columns.length)
  private val knownSums = new Array[Array[Long]](block.columns.length)
  private var batch: RunBatch = _
  private var run = 0

  /** Moves to the runs of another batch. */
  def take(runs: RunBatch): Unit = {
    batch = runs
    java.util.Arrays.fill(counts.asInstanceOf[Array[AnyRef]], null)
    java.util.Arrays.fill(knownSums.asInstanceOf[Array[AnyRef]], null)
  }

  override def runs: RunBatch = batch

  override def set(place: Int): Unit = run = place

  override def rows: Long = batch.count(run).toLong

  override def count(column: Int): Long =
    if (block.columns(column).nullsIfAny == null) rows
    else {
      if (counts(column) == null) counts(column) = countsOfRuns(tables.counts(column))
      counts(column)(run).toLong
    }

  override def sum(column: Int): Long = sums(column)(run)

  override def sums(column: Int): Array[Long] = {
    if (knownSums(column) == null) knownSums(column) = sumsOfRuns(tables.sums(column))
    knownSums(column)
  }

  override def doubleSum(column: Int): Double =
    tables.doubleSums(column).of(batch.first(run), batch.count(run))

  override def extreme(column: Int, kind: RunKind): Int = {
    val tree = if (kind == RunKind.Least) tables.least(column) else tables.greatest(column)
    tree.of(batch.first(run), batch.count(run))
  }

  // One tight loop over all runs of a batch: the tables are larger than the CPU caches, and the CPU
  // overlaps the cache misses of such a loop. Evaluation run by run, through the join and the
  // aggregate, would wait for each.
  //
  // There is a loop for each type of array. A common loop would read the table through a function.
  // If both types are in use, the JVM does not inline this function.

  private def sumsOfRuns(table: Array[Long]): Array[Long] = {
    val (first, count) = (batch.first, batch.count)
    val result = new Array[Long](batch.size)
    var k = 0
    while (k < result.length) {
      result(k) = table(first(k) + count(k)) - table(first(k))
      k += 1
    }
    result
  }

  private def countsOfRuns(table: Array[Int]): Array[Int] = {
    val (first, count) = (batch.first, batch.count)
    val result = new Array[Int](batch.size)
    var k = 0
    while (k < result.length) {
      result(k) = table(first(k) + count(k)) - table(first(k))
      k += 1
    }
    result
  }
}
