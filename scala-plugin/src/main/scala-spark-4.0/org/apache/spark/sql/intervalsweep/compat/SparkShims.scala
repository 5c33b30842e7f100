// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import java.nio.file.{Files, Path}

import org.apache.spark.SparkEnv
import org.apache.spark.api.python.{BasePythonRunner, PythonWorker}
import org.apache.spark.internal.config.Python.PYTHON_WORKER_FAULTHANLDER_ENABLED
import org.apache.spark.sql.catalyst.expressions.{
  EvalMode, Expression, NamedArgumentExpression, TimeAdd
}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{
  FunctionSignature, LogicalPlan, NamedParametersSupport
}
import org.apache.spark.sql.catalyst.trees.TreePattern.{PYTHON_UDF, TreePattern}
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.types.DataType

/** Spark 4.0. */
private[intervalsweep] object SparkShims extends SparkVersionShims {
  type TimestampAddInterval = TimeAdd
  val TimestampAddInterval: TimeAdd.type = TimeAdd

  def isTime(dataType: DataType): Boolean = false

  def evalMode(sum: Sum): EvalMode.Value = sum.evalMode

  def pythonPatterns: Seq[TreePattern] = Seq(PYTHON_UDF)

  def splitArguments(
      arguments: Seq[Expression],
      function: String): (Seq[Expression], Seq[NamedArgumentExpression]) =
    NamedParametersSupport.splitAndCheckNamedArguments(arguments, function)

  def rearrangeArguments(
      signature: FunctionSignature,
      arguments: Seq[Expression],
      function: String): Seq[Expression] =
    NamedParametersSupport.defaultRearrange(signature, arguments, function)

  def isRealTime(plan: LogicalPlan): Boolean = false

  def realTimeKeepsState: Boolean = false

  def spillingRows(rowsInMemory: Int, bytesInMemory: Long): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(rowsInMemory, Int.MaxValue)

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
