// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, RowBlock}
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch
import org.apache.spark.sql.types.LongType

/**
 * The columns of a chunk's points that a worker sums up for each box. This is done if only sums are
 * needed, and a second axis would break the matches of a box into many runs. A column that is sent
 * to the worker for this is a measure.
 *
 * @param summed the integral columns to be summed
 * @param counted the columns whose non-NULL values are counted
 */
final class SummedColumns private (val block: RowBlock, summed: Seq[Int], counted: Seq[Int]) {

  /** The index of a sum among the measures, by its column. */
  val sums: Map[Int, Int] = summed.zipWithIndex.toMap

  /**
   * The index of a count among the measures, by its column. Columns without NULLs have no count.
   */
  val counts: Map[Int, Int] =
    counted.zipWithIndex.map { case (column, k) => column -> (summed.size + k) }.toMap

  def size: Int = sums.size + counts.size

  /** The measures: a value for each row, 0 for NULL. */
  def values: Seq[Array[Long]] =
    summed.map(c => block.columns(c).longs(block.numRows)) ++
      counted.map(c => presence(block.columns(c)))

  private def presence(column: BlockColumn): Array[Long] =
    Array.tabulate(block.numRows)(i => if (column.nulls(i)) 0L else 1L)
}

object SummedColumns {

  /** True if sums of integers are enough for everything that is needed of the points. */
  def areEnough(layout: RunLayout, points: Side): Boolean =
    layout.columns.filter(_.columns.exists(_.side == points)).forall { c =>
      c.kind match {
        case RunKind.Rows | RunKind.Count | RunKind.SumOfTwo => true
        case RunKind.Sum => c.dataType == LongType
        case _ => false
      }
    }

  def apply(layout: RunLayout, points: Side, block: RowBlock): SummedColumns = {
    val asked = layout.columns.toSeq
    def ordinals(columns: Seq[RunColumn]) =
      columns.flatMap(_.columns).filter(_.side == points).map(_.ordinal).distinct
    new SummedColumns(
      block,
      summed = ordinals(asked.filter(c => c.kind == RunKind.Sum || c.kind == RunKind.SumOfTwo)),
      counted = ordinals(asked).filter(block.columns(_).nullsIfAny != null))
  }
}

/** The matches of a box as sums, which are those of a batch. */
final class WorkerSums(measures: SummedColumns, override val runs: RunBatch)
    extends BatchMatches {
  private var place = 0

  override def set(place: Int): Unit = this.place = place

  override def block: RowBlock = measures.block
  override def rows: Long = runs.count(place).toLong
  override def count(column: Int): Long =
    measures.counts.get(column).fold(rows)(runs.sums(_)(place))
  override def sum(column: Int): Long = sums(column)(place)
  override def sums(column: Int): Array[Long] = runs.sums(measures.sums(column))
  override def doubleSum(column: Int): Double = throw new UnsupportedOperationException
  override def extreme(column: Int, kind: RunKind): Int = throw new UnsupportedOperationException
}
