// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.api.python.PythonWorker
import org.apache.spark.sql.catalyst.expressions.{EvalMode, Expression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{FunctionSignature, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.types.DataType

/**
 * Everything that differs between minor versions of Spark. `SparkShims` implements it once per version,
 * in the folders `scala-spark-*`. It also names the expression that adds a day-time interval to a
 * timestamp, `TimestampAddInterval`, which Spark 4.0 calls `TimeAdd`.
 */
private[intervalsweep] trait SparkVersionShims {

  /** Whether a type is TIME, which Spark has from 4.1 on. */
  def isTime(dataType: DataType): Boolean

  /** What a sum does when it leaves its type: wrap around, fail, or return NULL. */
  def evalMode(sum: Sum): EvalMode.Value

  /** The tree patterns of expressions that call a Python function, also if Spark may translate it. */
  def pythonPatterns: Seq[TreePattern]

  /** Splits arguments of a SQL function into positional ones and named ones, such as `delta => 1`. */
  def splitArguments(
      arguments: Seq[Expression],
      function: String): (Seq[Expression], Seq[NamedArgumentExpression])

  /** Sorts arguments of a SQL function into the order of its signature. */
  def rearrangeArguments(
      signature: FunctionSignature,
      arguments: Seq[Expression],
      function: String): Seq[Expression]

  /** Whether a plan belongs to a streaming query in real-time mode. Only a running query's plan does. */
  def isRealTime(plan: LogicalPlan): Boolean

  /** Whether queries in real-time mode can keep state with `transformWithState`. */
  def realTimeKeepsState: Boolean

  /**
   * An array of rows that spills.
   *
   * @param rowsInMemory  number of rows above which Spark's sorter takes the rows and spills them
   * @param bytesInMemory the same for bytes; Spark 4.0 ignores it
   */
  def spillingRows(rowsInMemory: Int, bytesInMemory: Long): ExternalAppendOnlyUnsafeRowArray

  /**
   * Starts a Python worker through Spark's daemon.
   *
   * @param python       path of the interpreter
   * @param workerModule module that the worker runs
   * @param daemonModule module of the daemon that forks workers
   * @param environment  environment variables of the process
   * @return the worker, and a function that returns what its fault handler wrote if it crashed
   */
  def startPythonWorker(
      python: String,
      workerModule: String,
      daemonModule: String,
      environment: Map[String, String]): (PythonWorker, () => Option[String])
}
