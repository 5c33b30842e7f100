// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch

/**
 * Marks the rows that have met a match, where the join asks for it, and fails for those whose
 * expressions fail with their first match.
 *
 * @param check called now and then in long loops: fails if the task was killed
 */
private[task] final class MatchedBitmap(output: JoinOutput, check: () => Unit) {
  private val trackedLeft = output.isTracked(LeftSide)
  private val trackedRight = output.isTracked(RightSide)

  /** Marks a pair. */
  def pair(left: RowBlock, right: RowBlock, l: Int, r: Int): Unit = {
    if (left.hasFailures) left.raiseFailure(l, 1)
    if (right.hasFailures) right.raiseFailure(r, 1)
    if (trackedLeft) left.matched.set(l)
    if (trackedRight) right.matched.set(r)
  }

  /** Whether a pair can tell nothing new: for joins that return no pairs. */
  def isDecided(left: RowBlock, right: RowBlock, l: Int, r: Int): Boolean =
    if (trackedLeft) left.matched.get(l) else right.matched.get(r)

  /** Marks all pairs of a batch of runs. */
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

  /** Runs of which only the rows that they hold are marked. */
  private val RunsPerCheck = 1 << 8
}
