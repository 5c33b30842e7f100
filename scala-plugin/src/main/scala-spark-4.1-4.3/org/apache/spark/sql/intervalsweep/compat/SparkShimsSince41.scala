// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.sql.catalyst.expressions.{
  EvalMode, Expression, NamedArgumentExpression, TimestampAddInterval => SparkTimestampAddInterval
}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.logical.{
  FunctionSignature, LogicalPlan, NamedParametersSupport
}
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.execution.datasources.v2.{
  StreamingDataSourceV2Relation, StreamingDataSourceV2ScanRelation
}
import org.apache.spark.sql.execution.streaming.operators.stateful
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, TimeType}

/** The part of `SparkShims` that Spark 4.1 and later versions share. */
private[compat] trait SparkShimsSince41 extends SparkVersionShims {
  type TimestampAddInterval = SparkTimestampAddInterval
  val TimestampAddInterval: SparkTimestampAddInterval.type = SparkTimestampAddInterval
  type StatefulOperator = stateful.StatefulOperator
  type WatermarkSupport = stateful.WatermarkSupport

  def isTime(dataType: DataType): Boolean = dataType.isInstanceOf[TimeType]

  def evalMode(sum: Sum): EvalMode.Value = sum.evalContext.evalMode

  def splitArguments(
      arguments: Seq[Expression],
      function: String): (Seq[Expression], Seq[NamedArgumentExpression]) =
    NamedParametersSupport.splitAndCheckNamedArguments(arguments, function, SQLConf.get.resolver)

  def rearrangeArguments(
      signature: FunctionSignature,
      arguments: Seq[Expression],
      function: String): Seq[Expression] =
    NamedParametersSupport.defaultRearrange(signature, arguments, function, SQLConf.get.resolver)

  def isRealTime(plan: LogicalPlan): Boolean = plan.exists {
    case scan: StreamingDataSourceV2ScanRelation => scan.relation.realTimeModeDuration.isDefined
    case source: StreamingDataSourceV2Relation => source.realTimeModeDuration.isDefined
    case _ => false
  }

  def spillingRows(rowsInMemory: Int, bytesInMemory: Long): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(rowsInMemory, bytesInMemory, Int.MaxValue, Long.MaxValue)
}
