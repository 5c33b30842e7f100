// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.intervalsweep.execution.aggregates.{RunKind, RunValue}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, DoubleColumn, RowBlock}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * One aggregate over the probe rows of a window.
 *
 * @param function Spark's own function, over the columns of a base and a probe row
 * @param kind     how to compute it from runs of probe rows, if that is possible
 * @param column   the column of the probe rows that `kind` reads, if it reads one
 */
case class WindowResult(
    name: String,
    function: AggregateExpression,
    kind: Option[RunKind],
    column: Option[Attribute]) {
  def dataType: DataType = function.dataType
}

/** Computes the results of windows from tables of the probe rows, or row by row. */
private[streams] final class WindowResults(
    results: Seq[WindowResult],
    base: Seq[Attribute],
    probe: Seq[Attribute],
    residual: Option[Expression]) {
  private lazy val folds =
    results.map(r => new RowAtATimeAggregator(Seq(r.function), base, probe, residual))
  private lazy val allFolds =
    new RowAtATimeAggregator(results.map(_.function), base, probe, residual)
  private val ordinals =
    results.map(r => r.column.fold(-1)(c => probe.indexWhere(_.exprId == c.exprId))).toArray

  /** Whether all results can be computed from runs, without reading base rows. */
  val areOfRuns: Boolean = residual.isEmpty && results.forall(_.kind.isDefined)

  /** Whether all sums over these runs are certain to be below a limit. */
  def fit(partners: RowBlock, runs: WindowRuns, limit: Double = RunValue.MostLong): Boolean =
    results.indices.forall(k => fits(k, partners, runs, limit))

  /** Columns with a row for each row of the base. */
  def of(rows: RowBlock, partners: RowBlock, runs: WindowRuns): Array[BlockColumn] = {
    val columns = empty(rows.numRows)
    if (residual.isDefined) allFolds.fill(rows, partners, runs, columns)
    else results.indices.foreach { k =>
      if (results(k).kind.isDefined && fits(k, partners, runs)) fill(k, columns(k), partners, runs)
      else folds(k).fill(rows, partners, runs, Array(columns(k)))
    }
    columns
  }

  /** Columns with a row for each run. Requires `areOfRuns` and `fit`. */
  def ofRuns(partners: RowBlock, runs: WindowRuns): Array[BlockColumn] = {
    val columns = empty(runs.first.length)
    results.indices.foreach(k => fill(k, columns(k), partners, runs))
    columns
  }

  /** Columns for rows with empty windows. */
  def ofNone(rows: Int): Array[BlockColumn] = {
    val columns = empty(rows)
    if (rows > 0) allFolds.fillEmpty(rows, columns)
    columns
  }

  private def empty(rows: Int): Array[BlockColumn] = results.map { r =>
    val column = BlockColumn(r.dataType)
    column.grow(rows)
    column
  }.toArray

  /** Whether no sum can leave 64 bits. Otherwise Spark's own function decides what happens. */
  private def fits(
      k: Int,
      partners: RowBlock,
      runs: WindowRuns,
      limit: Double = RunValue.MostLong): Boolean =
    !results(k).kind.contains(RunKind.Sum) || results(k).dataType != LongType ||
      partners.tables.bound(ordinals(k)) * runs.most < limit

  private def fill(k: Int, result: BlockColumn, partners: RowBlock, runs: WindowRuns): Unit = {
    val (kind, ordinal) = (results(k).kind.get, ordinals(k))
    val (first, count, n) = (runs.first, runs.count, runs.first.length)
    kind match {
      case RunKind.Rows =>
        each(n)(i => result.setLong(i, count(i).toLong))
      case RunKind.Count =>
        val counts = partners.tables.counts(ordinal)
        each(n)(i => result.setLong(i, (counts(first(i) + count(i)) - counts(first(i))).toLong))
      case RunKind.Sum =>
        val counts = partners.tables.counts(ordinal)
        def isNone(i: Int): Boolean = counts(first(i) + count(i)) == counts(first(i))
        partners.columns(ordinal) match {
          case doubles: DoubleColumn =>
            val sums = new SlidingSum(doubles, partners.numRows)
            each(n) { i =>
              sums.move(first(i), first(i) + count(i))
              if (isNone(i)) result.setNull(i) else result.setDouble(i, sums.result)
            }
          case _ =>
            val sums = partners.tables.sums(ordinal)
            each(n)(i =>
              if (isNone(i)) result.setNull(i)
              else result.setLong(i, sums(first(i) + count(i)) - sums(first(i))))
        }
      case RunKind.Least | RunKind.Greatest =>
        val column = partners.columns(ordinal)
        val sign = if (kind == RunKind.Least) -1 else 1
        val extremes = new SlidingExtreme(column, partners.numRows, sign)
        each(n) { i =>
          extremes.move(first(i), first(i) + count(i))
          val at = extremes.result
          if (at < 0) result.setNull(i) else result.copy(i, column, at)
        }
      case RunKind.SumOfTwo => throw new IllegalStateException("a sum over both sides")
    }
  }

  private def each(n: Int)(set: Int => Unit): Unit = {
    var i = 0
    while (i < n) { set(i); i += 1 }
  }
}
