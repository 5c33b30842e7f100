// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.SparkEnv
import org.apache.spark.api.python.PythonWorker
import org.apache.spark.sql.catalyst.trees.TreePattern.{
  PYTHON_UDF, TRANSPILED_PYTHON_UDF, TreePattern
}

/** Spark 4.3. */
private[intervalsweep] object SparkShims extends SparkShimsSince41 {
  def pythonPatterns: Seq[TreePattern] = Seq(PYTHON_UDF, TRANSPILED_PYTHON_UDF)

  def realTimeKeepsState: Boolean = true

  def startPythonWorker(
      python: String,
      workerModule: String,
      daemonModule: String,
      environment: Map[String, String]): (PythonWorker, () => Option[String]) = {
    val (worker, handle) = SparkEnv.get.createPythonWorker(
      python,
      workerModule,
      daemonModule,
      environment,
      useDaemon = true)
    (worker, () => handle.flatMap(_.terminationDiagnostics()))
  }
}
