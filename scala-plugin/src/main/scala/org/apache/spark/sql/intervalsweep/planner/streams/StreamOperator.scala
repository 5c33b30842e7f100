// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  PartitionedBatches, StatePartitions, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.windows.{
  StreamCounts, StreamOperatorLogic, StreamProcessor
}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * Builds the plan of a [[StreamOperatorLogic]]: Spark's own stateful operator, over rows that are
 * packed by state partition.
 */
private[planner] object StreamOperator {

  /**
   * @param sides the rows of each side, with the columns that the operator reads
   * @param mode  append, or update if a row may be emitted again
   */
  def apply(
      machine: StreamOperatorLogic,
      sides: Seq[LogicalPlan],
      mode: OutputMode): StreamOperator = {
    StatePartitions.checkStateStore(SQLConf.get)
    val packed = machine.sides.zip(sides).zipWithIndex.map { case ((side, plan), number) =>
      PartitionedBatches(
        number,
        side.columns,
        side.keys,
        Some(side.time),
        machine.fanout(number),
        plan,
        copied = Some(number + machine.sides.size))
    }
    val output = machine.output.map(f => AttributeReference(f.name, f.dataType)())
    val processor = new StreamProcessor(machine)
    val time = TimeMode.EventTime()
    StreamOperator(
      StatefulOperatorPlan(packed, processor, time, mode, output, StreamCounts.schema),
      output)
  }

  /** The column with the stream's watermark; raises an error if there is none. */
  def eventTime(side: String, plan: LogicalPlan): Attribute =
    plan.output.find(hasWatermark).getOrElse {
      val times = plan.output.filter(_.dataType == org.apache.spark.sql.types.TimestampType)
      StreamErrors.noWatermark(side, times.map(_.name))
    }

  def hasWatermark(column: Attribute): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey)

  /** The delay of the watermark, in milliseconds. */
  def delay(time: Attribute): Long = time.metadata.getLong(EventTimeWatermark.delayKey)

  def withoutWatermark(metadata: Metadata): Metadata =
    new MetadataBuilder().withMetadata(metadata).remove(EventTimeWatermark.delayKey).build()
}

/** @param fields the columns of `plan`, one for each output field of the operator */
private[planner] case class StreamOperator(plan: LogicalPlan, fields: Seq[Attribute]) {

  /** An output field under the name and id of an input column. */
  def column(ordinal: Int, as: Attribute, metadata: Metadata): Alias =
    Alias(fields(ordinal), as.name)(as.exprId, as.qualifier, Some(metadata))
}
