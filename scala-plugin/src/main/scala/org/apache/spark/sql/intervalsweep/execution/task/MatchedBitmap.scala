// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch

/**
 * Marks the rows that have a match, if the join needs to know them. If a check has failed for a
 * row, its first match raises the error.
 *
 * @param check called from time to time in long loops; throws if the task was killed
 */
private[task] final class MatchedBitmap(output: JoinOutput, check: () => Unit) {
  private val trackedLeft = output.isTracked(LeftSide)
  private val trackedRight = output.isTracked(RightSide)

  /** Marks the rows of a pair. */
  def pair(left: RowBlock, right: RowBlock, l: Int, r: Int): Unit = {
    if (left.hasFailures) left.raiseFailure(l, 1)
    if (right.hasFailures) right.raiseFailure(r, 1)
    if (trackedLeft) left.matched.set(l)
    if (trackedRight) right.matched.set(r)
  }

  /**
   * True if a pair cannot change the result, because the tracked row has a match already. For joins
   * that emit no pairs.
   */
  def isDecided(left: RowBlock, right: RowBlock, l: Int, r: Int): Boolean =
    if (trackedLeft) left.matched.get(l) else right.matched.get(r)

  /** Marks the rows of all pairs of a batch of runs. */
  def runs(runs: RunBatch, boxSide: Side, boxes: RowBlock, points: RowBlock): Unit = {
    if (boxes.hasFailures || points.hasFailures) raiseFailures(runs, boxes, points)
    if (output.isTracked(boxSide)) setBoxes(runs, boxes)
    if (output.isTracked(boxSide.other)) setPoints(runs, points)
  }

  private def raiseFailures(runs: RunBatch, boxes: RowBlock, points: RowBlock): Unit =
    (0 until runs.size).foreach { k =>
      check()
      if (boxes.hasFailures) boxes.raiseFailure(runs.box(k), 1)
      if (points.hasFailures) points.raiseFailure(runs.first(k), runs.count(k))
    }

  private def setBoxes(runs: RunBatch, block: RowBlock): Unit = {
    var k = 0
    while (k < runs.size) { block.matched.set(runs.box(k)); k += 1 }
  }

  private def setPoints(runs: RunBatch, block: RowBlock): Unit = {
    var k = 0
    while (k < runs.size) {
      if (k % MatchedBitmap.RunsPerCheck == 0) check()
      block.matched.set(runs.first(k), runs.first(k) + runs.count(k))
      k += 1
    }
  }
}

private object MatchedBitmap {

  /** The number of runs whose points are marked between two checks. */
  private val RunsPerCheck = 1 << 8
}
