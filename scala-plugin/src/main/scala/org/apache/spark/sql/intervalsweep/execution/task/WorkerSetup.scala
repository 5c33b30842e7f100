// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.worker.{Json, WorkerSettings}

/** The settings of a join's workers, which the driver decides. */
object WorkerSetup {

  /**
   * @param build the build side: its rows stay in the worker, and those of the other side pass
   *   by
   */
  def apply(node: SweepNode, plan: TaskPlan, build: Side): WorkerSettings = {
    val maxRuns = node.conf.getConf(IntervalSweepConf.BatchRows)
    WorkerSettings(openMessage(node, plan, build, maxRuns), maxRuns)
  }

  private def openMessage(
      node: SweepNode,
      plan: TaskPlan,
      build: Side,
      maxRuns: Int): String = {
    val condition = node.sweepCondition
    Json.obj(
      "protocol" -> Json.of(WorkerSettings.Protocol),
      "resident" -> Json.of(build.toString),
      "sweeps" -> Json.array(condition.sweeps.map(sweep(_, plan))),
      "left" -> Json.of(condition.leftEndpoints.size),
      "right" -> Json.of(condition.rightEndpoints.size),
      "maxRuns" -> Json.of(maxRuns),
      "cacheBytes" -> Json.of(node.conf.getConf(IntervalSweepConf.WorkerCacheBytes))).toString
  }

  private def sweep(s: Sweep, plan: TaskPlan): JsonNode = Json.obj(
    "boxes" -> Json.of(s.boxes.toString),
    "lead" -> axis(s.lead),
    "second" -> Json.of(s.second.map(axis)),
    "firstOnly" -> Json.of(plan.isFirstOnly(s)),
    "sums" -> Json.of(plan.mayBeSummed(s)))

  private def axis(a: Axis): JsonNode = Json.obj(
    "point" -> Json.of(a.point),
    "lower" -> Json.of(a.lower.map(end)),
    "upper" -> Json.of(a.upper.map(end)))

  private def end(bound: Bound): JsonNode =
    Json.obj("endpoint" -> Json.of(bound.endpoint), "strict" -> Json.of(bound.strict))
}
