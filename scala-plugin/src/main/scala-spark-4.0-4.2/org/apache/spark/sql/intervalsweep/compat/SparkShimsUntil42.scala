// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import java.nio.file.{Files, Path}

import org.apache.spark.SparkEnv
import org.apache.spark.api.python.{BasePythonRunner, PythonWorker}
import org.apache.spark.internal.config.Python.PYTHON_WORKER_FAULTHANLDER_ENABLED
import org.apache.spark.sql.catalyst.trees.TreePattern.{PYTHON_UDF, TreePattern}

/** The part of `SparkShims` that Spark 4.2 and earlier versions share. */
private[compat] trait SparkShimsUntil42 extends SparkVersionShims {
  def pythonPatterns: Seq[TreePattern] = Seq(PYTHON_UDF)

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
    (worker, () => handle.flatMap(h => faultHandlerLog(h.pid().toInt)))
  }

  private def faultHandlerLog(pid: Int): Option[String] =
    Option.when(SparkEnv.get.conf.get(PYTHON_WORKER_FAULTHANLDER_ENABLED)) {
      BasePythonRunner.faultHandlerLogPath(pid)
    }.filter(Files.exists(_)).map(readOnce)

  private def readOnce(file: Path): String =
    try Files.readString(file)
    finally Files.deleteIfExists(file)
}
