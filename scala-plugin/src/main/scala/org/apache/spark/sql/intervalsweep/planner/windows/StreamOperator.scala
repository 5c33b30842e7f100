// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.nearest.LimitedWindowsProcessor
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  PartitionedBatches, StatePartitions, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.windows.{
  StreamCounts, WindowUnionOutput, WindowUnionProcessor, WindowUnionSpec
}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * Builds the plan of a window union: Spark's own stateful operator, over rows that are packed by
 * state partition.
 */
private[planner] object StreamOperator {

  /** @param sides the rows of each side, with the columns that the operator reads */
  def apply(spec: WindowUnionSpec, sides: Seq[LogicalPlan]): StreamOperator = {
    StatePartitions.checkStateStore(SQLConf.get)
    val output = spec.newOutput()
    val plan = StatefulOperatorPlan(
      packed(spec, sides),
      if (spec.limit.isDefined) new LimitedWindowsProcessor(spec)
      else new WindowUnionProcessor(spec),
      TimeMode.EventTime(),
      if (spec.isEager) OutputMode.Update() else OutputMode.Append(),
      output.all,
      StreamCounts.schema)
    StreamOperator(plan, output)
  }

  private def packed(spec: WindowUnionSpec, sides: Seq[LogicalPlan]): Seq[PartitionedBatches] =
    spec.sides.zip(sides).zipWithIndex.map { case ((side, plan), number) =>
      PartitionedBatches(
        number,
        side.columns,
        side.keys,
        Some(side.time),
        spec.fanout(number),
        plan,
        copied = Some(number + spec.sides.size))
    }

  def hasWatermark(column: Attribute): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey)

  /** Whether an expression is a column with a watermark. */
  def isWatermarked(e: Expression): Boolean = e match {
    case column: Attribute => hasWatermark(column)
    case _ => false
  }

  /** The delay of the watermark, in milliseconds. */
  def delay(time: Attribute): Long = time.metadata.getLong(EventTimeWatermark.delayKey)

  def withoutWatermark(metadata: Metadata): Metadata =
    new MetadataBuilder().withMetadata(metadata).remove(EventTimeWatermark.delayKey).build()
}

/** @param output the columns of `plan` */
private[planner] case class StreamOperator(plan: LogicalPlan, output: WindowUnionOutput)
