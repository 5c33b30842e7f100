// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.sql.catalyst.expressions.{
  EvalMode, Expression, NamedArgumentExpression, TimeAdd
}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{
  FunctionSignature, LogicalPlan, NamedParametersSupport
}
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.execution.streaming
import org.apache.spark.sql.types.DataType

/** Spark 4.0. */
private[intervalsweep] object SparkShims extends SparkShimsUntil42 {
  type TimestampAddInterval = TimeAdd
  val TimestampAddInterval: TimeAdd.type = TimeAdd
  type StatefulOperator = streaming.StatefulOperator
  type WatermarkSupport = streaming.WatermarkSupport

  def isTime(dataType: DataType): Boolean = false

  def evalMode(sum: Sum): EvalMode.Value = sum.evalMode

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
}
