// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.api.python.BasePythonRunner
import org.apache.spark.internal.config.EXECUTOR_CORES
import org.apache.spark.internal.config.Python.{
  PYSPARK_EXECUTOR_MEMORY, PYTHON_WORKER_FAULTHANLDER_ENABLED, PYTHON_WORKER_REUSE
}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.internal.SQLConf

/**
 * How to start a worker; made on the driver.
 *
 * @param python the interpreter
 * @param openMessage the description of the sweep that the worker gets first, as JSON
 * @param environment environment variables in addition to PYTHONPATH. They are the same for all
 *   tasks of an application, since Spark keeps a daemon for each set of them.
 * @param isReused true if a worker serves one task after the other. If not, Spark's daemon lets a
 *   worker serve a single task.
 * @param timeoutSeconds the longest time to wait for a worker that does nothing
 * @param maxRuns the most runs, or periods, that the worker sends at a time
 */
case class WorkerSettings(
    python: String,
    openMessage: String,
    environment: Map[String, String],
    isReused: Boolean,
    timeoutSeconds: Long,
    maxRuns: Int) {

  /** The environment variables of a worker of this executor. */
  private[worker] def executorEnvironment: Map[String, String] =
    environment + ("PYTHONPATH" -> WorkerSources.folder) ++ faultHandler

  /**
   * The folder in which a worker that crashes leaves its traceback, for `terminationDiagnostics`.
   */
  private def faultHandler: Option[(String, String)] =
    Option.when(SparkEnv.get.conf.get(PYTHON_WORKER_FAULTHANLDER_ENABLED))(
      "PYTHON_FAULTHANDLER_DIR" -> BasePythonRunner.faultHandlerLogDir.toString)
}

object WorkerSettings {
  val Protocol = 6

  /** The settings for this session's application. */
  def apply(openMessage: String, maxRuns: Int): WorkerSettings = {
    val conf = SparkEnv.get.conf
    WorkerSettings(
      python(conf),
      openMessage,
      environment(conf),
      conf.get(PYTHON_WORKER_REUSE),
      SQLConf.get.getConf(IntervalSweepConf.WorkerTimeout),
      maxRuns)
  }

  /**
   * The interpreter. It is looked up on the driver, since an executor's environment does not have
   * the user's choice. It is not a setting of the session, in which anyone who may send SQL could
   * name any program.
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
}
