// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{
  BatchMatches, PerPointAccumulator, RunAggregates, RunLayout, RunMatches, SummedColumns, WorkerSums
}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, RowBlock}
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch

/**
 * Emits one aggregated row instead of many pairs if the plan above needs only aggregates. The
 * grouping decides which pairs become one row:
 * {{{
 *   grouped by                        one row for the pairs of
 *   rows of the boxes                 a run, or a box that the worker has summed up
 *   rows of the points                a point, once all runs of a chunk are known
 *   nothing, and values add up        a batch of runs
 * }}}
 * If a sum might leave 64 bits, or memory is refused, the pairs are emitted one by one.
 *
 * @param block the rows of a side in the current chunk
 */
private[task] final class RunAggregation(
    plan: TaskPlan,
    layout: RunLayout,
    block: Side => RowBlock) {
  private val aggregates = new RunAggregates(layout)
  private val summedPoints = plan.sweeps.filter(plan.mayBeSummed).map(_.points).toSet
  private var measures = Map.empty[Side, SummedColumns]
  private var ranges = Map.empty[Side, RunMatches]
  private var batch: RunBatch = _
  private var boxes: Side = _
  private var partners: BatchMatches = _
  private var isTotal = false
  private var mostPairs = -1.0
  private var gathered: PerPointAccumulator = _

  /** The values of the current row, as columns with one row. */
  def values: Array[BlockColumn] = aggregates.results

  def startChunk(): Unit = {
    ranges = Map.empty
    gathered = null
    mostPairs = -1
  }

  /** The columns that a worker may sum up over the points of the chunk, by side. */
  def measure(): Map[Side, SummedColumns] = {
    measures = summedPoints.map(side => side -> SummedColumns(layout, side, block(side))).toMap
    measures
  }

  /**
   * The number of measures that a worker sums up in each sweep; None if the sweep returns runs.
   */
  def sums: Array[Option[Int]] = {
    val isSummed = canBeSummed
    plan.sweeps.map { sweep =>
      Option.when(isSummed && plan.mayBeSummed(sweep))(measures(sweep.points).size)
    }
  }

  /**
   * True if no sum can leave 64 bits, and no row of the chunk raises an error at its first match.
   */
  private def canBeSummed: Boolean =
    summedPoints.nonEmpty && !block(LeftSide).hasFailures && !block(RightSide).hasFailures &&
      isReserved && {
        limitPairs()
        summedPoints.forall(block(_).numRows <= mostPairs)
      }

  private def isReserved: Boolean = aggregates.reserve(block(LeftSide), block(RightSide))

  private def limitPairs(): Unit =
    if (mostPairs < 0) mostPairs = aggregates.mostPairs(block)

  /**
   * Moves to a batch of runs. Returns the number of its runs for which [[startRun]] must be called.
   */
  def take(runs: RunBatch, side: Side): Int = {
    batch = runs
    boxes = side
    partners = null
    var size = runs.size
    if (runs.sums != null) partners = new WorkerSums(measures(boxes.other), runs)
    else if (!plan.hasResidual && isReserved) {
      limitPairs()
      if (aggregates.isByBox(boxes)) partners = rangeOf(boxes.other)
      else if (block(boxes).numRows <= mostPairs) {
        gather()
        size = 0
      }
    }
    if (partners != null) aggregates.start(boxes, block(boxes), partners)
    isTotal = partners != null && size > 0 && aggregates.areAdditive && runs.pairs <= mostPairs
    if (isTotal) 1 else size
  }

  private def rangeOf(points: Side): RunMatches = {
    if (!ranges.contains(points)) ranges += points -> new RunMatches(block(points))
    val range = ranges(points)
    range.take(batch)
    range
  }

  private def gather(): Unit = {
    if (gathered == null) gathered = aggregates.gathered(boxes, block)
    var k = 0
    while (k < batch.size) {
      gathered.add(batch.box(k), batch.first(k), batch.count(k))
      k += 1
    }
  }

  /**
   * True if the pairs of run `k`, or of the whole batch, become one row. Its values are computed
   * then.
   */
  def startRun(k: Int): Boolean = {
    val isOne = partners != null && (isTotal || batch.count(k) > 1 && batch.count(k) <= mostPairs)
    if (isOne && isTotal) aggregates.total(partners)
    else if (isOne) {
      partners.set(k)
      aggregates.compute(batch.box(k))
    }
    isOne
  }

  /** Call it after the last run of a chunk. */
  def endSweeps(): Unit = if (gathered != null) {
    gathered.finish()
    aggregates.start(pointSide, block(pointSide), gathered)
  }

  /**
   * Moves to the next point that has matches, and computes its values. False after the last one.
   */
  def nextPoint(): Boolean = gathered != null && gathered.advance() && {
    aggregates.compute(gathered.position)
    true
  }

  /** The side that the aggregate groups by. */
  def pointSide: Side = layout.groupSide.get
  def point: Int = gathered.position
  def partner: Int = gathered.partner
}
