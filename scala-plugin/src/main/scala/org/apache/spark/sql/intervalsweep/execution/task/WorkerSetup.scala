// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.worker.WorkerSettings

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
    val sweeps = node.sweepCondition.sweeps.map(sweep(_, plan)).mkString(",")
    val cacheBytes = node.conf.getConf(IntervalSweepConf.WorkerCacheBytes)
    s"""{"protocol":${WorkerSettings.Protocol},"resident":"$build","sweeps":[$sweeps],""" +
      s""""left":${node.sweepCondition.leftEndpoints.size},"right":${node.sweepCondition.rightEndpoints.size},""" +
      s""""maxRuns":$maxRuns,"cacheBytes":$cacheBytes}"""
  }

  private def sweep(s: Sweep, plan: TaskPlan): String =
    s"""{"boxes":"${s.boxes}","lead":${axis(s.lead)},"second":${s.second.fold("null")(axis)},""" +
      s""""firstOnly":${plan.isFirstOnly(s)},"sums":${plan.mayBeSummed(s)}}"""

  private def axis(a: Axis): String =
    s"""{"point":${a.point},"lower":${end(a.lower)},"upper":${end(a.upper)}}"""

  private def end(bound: Option[Bound]): String =
    bound.fold("null")(b => s"""{"endpoint":${b.endpoint},"strict":${b.strict}}""")
}
