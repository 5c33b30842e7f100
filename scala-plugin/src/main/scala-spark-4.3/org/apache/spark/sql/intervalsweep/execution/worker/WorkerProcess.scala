// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import org.apache.spark.SparkEnv
import org.apache.spark.api.python.PythonWorker

/**
 * A Python worker that Spark has started.
 *
 * @param lastWords what is known of how it ended, if it crashed
 */
private[execution] case class WorkerProcess(worker: PythonWorker, lastWords: () => Option[String])

private[execution] object WorkerProcess {

  /** The parameters are those of [[SparkEnv.createPythonWorker]]. */
  def start(
      python: String,
      workerModule: String,
      daemonModule: String,
      environment: Map[String, String]): WorkerProcess = {
    val (worker, handle) = SparkEnv.get.createPythonWorker(
      python,
      workerModule,
      daemonModule,
      environment,
      useDaemon = true)
    WorkerProcess(worker, () => handle.flatMap(_.terminationDiagnostics()))
  }
}
