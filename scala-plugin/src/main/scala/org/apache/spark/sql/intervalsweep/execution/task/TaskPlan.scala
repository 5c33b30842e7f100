// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, MatchLimit, Sweep}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{RunLayout, SummedColumns}

/**
 * The part of a join's description that decides what a task does with matches.
 *
 * @param hasResidual true if the caller evaluates a residual condition for each match
 * @param limit the matches of a left row that are kept, if they are limited
 * @param runs how pairs are aggregated, if they need not be emitted one by one
 */
case class TaskPlan(
    sweeps: Array[Sweep],
    output: JoinOutput,
    hasResidual: Boolean,
    limit: Option[MatchLimit],
    runs: Option[RunLayout]) {

  /** True if the caller looks through the matches of a box until a limit is reached. */
  def isSearched: Boolean = limit.isDefined && hasResidual

  /** True if it is enough to know which boxes of a sweep have a match. */
  def isFirstOnly(sweep: Sweep): Boolean = !hasResidual && output.needsFirstMatchOnly(sweep.boxes)

  /**
   * True if it is enough to know sums over the points of each box. With one axis the task has them
   * from the run.
   */
  def mayBeSummed(sweep: Sweep): Boolean =
    sweep.second.isDefined && !hasResidual && output.hasPairs && !output.isTracked(sweep.points) &&
      runs.exists { layout =>
        layout.groupSide.forall(_ == sweep.boxes) && SummedColumns.areEnough(layout, sweep.points)
      }
}
