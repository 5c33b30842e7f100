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
 * The parts of Spark's API that differ between its minor versions. The folders `scala-spark-*` have
 * one implementation each, `SparkShims`. `SparkShims` also has type aliases: `TimestampAddInterval`,
 * the expression that adds a day-time interval to a timestamp, which Spark 4.0 calls `TimeAdd`, and
 * `StatefulOperator` and `WatermarkSupport`, which are in another package in Spark 4.0.
 */
private[intervalsweep] trait SparkVersionShims {

  /** Whether a type is TIME. Spark has this type from 4.1 on. */
  def isTime(dataType: DataType): Boolean

  /** The overflow behavior of a sum: wrap, raise an error, or return NULL. */
  def evalMode(sum: Sum): EvalMode.Value

  /**
   * The tree patterns of expressions that call a Python function, including functions that Spark
   * may translate.
   */
  def pythonPatterns: Seq[TreePattern]

  /**
   * Splits the arguments of a SQL function into positional and named ones, such as `delta => 1`.
   */
  def splitArguments(
      arguments: Seq[Expression],
      function: String): (Seq[Expression], Seq[NamedArgumentExpression])

  /** Sorts the arguments of a SQL function into the order of its signature. */
  def rearrangeArguments(
      signature: FunctionSignature,
      arguments: Seq[Expression],
      function: String): Seq[Expression]

  /**
   * Whether a plan belongs to a streaming query that runs in real-time mode. False before the query
   * starts.
   */
  def isRealTime(plan: LogicalPlan): Boolean

  /** Whether queries in real-time mode can keep state with `transformWithState`. */
  def realTimeKeepsState: Boolean

  /**
   * An array of rows that spills to disk.
   *
   * @param rowsInMemory  the number of rows from which on Spark's sorter takes the rows and spills
   *                      them
   * @param bytesInMemory the same limit in bytes; Spark 4.0 ignores it
   */
  def spillingRows(rowsInMemory: Int, bytesInMemory: Long): ExternalAppendOnlyUnsafeRowArray

  /**
   * Starts a Python worker through Spark's daemon.
   *
   * @param python       the path of the interpreter
   * @param workerModule the module that the worker runs
   * @param daemonModule the module of the daemon that forks workers
   * @param environment  the environment variables of the process
   * @return the worker, and a function that returns the output of its fault handler after a crash
   */
  def startPythonWorker(
      python: String,
      workerModule: String,
      daemonModule: String,
      environment: Map[String, String]): (PythonWorker, () => Option[String])
}
