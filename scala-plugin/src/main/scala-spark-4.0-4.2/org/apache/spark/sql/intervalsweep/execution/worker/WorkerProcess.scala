// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.nio.file.{Files, Path}

import org.apache.spark.SparkEnv
import org.apache.spark.api.python.{BasePythonRunner, PythonWorker}
import org.apache.spark.internal.config.Python.PYTHON_WORKER_FAULTHANLDER_ENABLED

/**
 * A Python worker that Spark has started.
 *
 * @param lastWords what is known of how it ended, if it crashed: what its fault handler wrote, which
 *   it does not have in Spark 4.0
 */
private[execution] case class WorkerProcess(worker: PythonWorker, lastWords: () => Option[String])

private[execution] object WorkerProcess {

  /** The parameters are those of [[SparkEnv.createPythonWorker]]. */
  def start(
      python: String,
      workerModule: String,
      daemonModule: String,
      environment: Map[String, String]): WorkerProcess = {
    val (worker, process) = SparkEnv.get.createPythonWorker(
      python,
      workerModule,
      daemonModule,
      environment,
      useDaemon = true)
    WorkerProcess(worker, () => process.flatMap(p => written(p.pid().toInt)))
  }

  private def written(pid: Int): Option[String] =
    Option.when(SparkEnv.get.conf.get(PYTHON_WORKER_FAULTHANLDER_ENABLED)) {
      BasePythonRunner.faultHandlerLogPath(pid)
    }.filter(Files.exists(_)).map(readOnce)

  private def readOnce(file: Path): String =
    try Files.readString(file)
    finally Files.deleteIfExists(file)
}
