// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.internal.config.EXECUTOR_CORES
import org.apache.spark.internal.config.Python.{PYSPARK_EXECUTOR_MEMORY, PYTHON_WORKER_REUSE}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.{Axis, Bound, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.worker.WorkerSettings

/** What the driver decides about the workers of a join. */
object WorkerSetup {
  private val Protocol = 3

  /** @param resident the side whose rows stay in the worker while those of the other pass by */
  def apply(node: SweepNode, plan: TaskPlan, resident: Side): WorkerSettings = {
    val conf = SparkEnv.get.conf
    val maxRuns = node.conf.getConf(IntervalSweepConf.BatchRows)
    WorkerSettings(
      python(conf),
      openMessage(node, plan, resident, maxRuns),
      environment(conf),
      maxRuns)
  }

  /**
   * Found on the driver, since an executor's environment says nothing of the user's choice; and not
   * in a session, where whoever may send SQL could name any program.
   */
  private def python(conf: SparkConf): String =
    conf.get(IntervalSweepConf.Python)
      .orElse(conf.getOption("spark.sql.execution.pyspark.python"))
      .orElse(conf.getOption("spark.pyspark.python"))
      .orElse(sys.env.get("PYSPARK_PYTHON"))
      .getOrElse("python3")

  private def environment(conf: SparkConf): Map[String, String] = {
    val reuse = Option.when(conf.get(PYTHON_WORKER_REUSE))("SPARK_REUSE_WORKER" -> "1")
    val memory = conf.get(PYSPARK_EXECUTOR_MEMORY).map { mebibytes =>
      "PYSPARK_EXECUTOR_MEMORY_MB" -> (mebibytes / math.max(1, conf.get(EXECUTOR_CORES))).toString
    }
    (reuse ++ memory).toMap
  }

  private def openMessage(
      node: SweepNode,
      plan: TaskPlan,
      resident: Side,
      maxRuns: Int): String = {
    val sweeps = node.sweepCondition.sweeps.map(sweep(_, plan)).mkString(",")
    val cacheBytes = node.conf.getConf(IntervalSweepConf.WorkerCacheBytes)
    s"""{"protocol":$Protocol,"resident":"$resident","sweeps":[$sweeps],""" +
      s""""left":${node.sweepCondition.leftEndpoints.size},"right":${node.sweepCondition.rightEndpoints.size},""" +
      s""""maxRuns":$maxRuns,"cacheBytes":$cacheBytes}"""
  }

  private def sweep(s: Sweep, plan: TaskPlan): String =
    s"""{"boxes":"${s.boxes}","lead":${axis(s.lead)},"second":${s.second.fold("null")(axis)},""" +
      s""""firstOnly":${plan.isFirstOnly(s)},"sums":${plan.mayBeSummed(s)}}"""

  private def axis(a: Axis): String =
    s"""{"point":${a.point},"lower":${end(a.lower)},"upper":${end(a.upper)}}"""

  private def end(bound: Option[Bound]): String =
    bound.fold("null")(b => s"""{"slot":${b.slot},"strict":${b.strict}}""")
}
