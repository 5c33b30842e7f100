// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, Sweep}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{RunLayout, SummedColumns}

/**
 * What a task does with the matches.
 *
 * @param hasResidual whether a match of the sweeps has yet to be judged, by the caller
 * @param runs what is emitted of the pairs of a run together, if they need not be emitted one by one
 */
case class TaskPlan(
    sweeps: Array[Sweep],
    output: JoinOutput,
    hasResidual: Boolean,
    runs: Option[RunLayout]) {

  /** Whether it is enough to know which boxes of a sweep have a match. */
  def isFirstOnly(sweep: Sweep): Boolean = !hasResidual && output.needsFirstMatchOnly(sweep.boxes)

  /** Whether it is enough to know what the points of a box add up to. With one axis a run says that. */
  def mayBeSummed(sweep: Sweep): Boolean =
    sweep.second.isDefined && !hasResidual && output.hasPairs && !output.isTracked(sweep.points) &&
      runs.exists { layout =>
        layout.groupSide.forall(_ == sweep.boxes) && SummedColumns.areEnough(layout, sweep.points)
      }
}
