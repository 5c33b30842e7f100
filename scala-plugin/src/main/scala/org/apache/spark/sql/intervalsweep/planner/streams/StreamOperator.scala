// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  PackSlots, PackSlotsExec, SlotOperator, SlotRows, SlotRowsExec, Slots
}
import org.apache.spark.sql.intervalsweep.streams.windows.{
  StreamCounts, StreamMachine, StreamProcessor
}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/** A [[StreamMachine]] as a plan: Spark's own operator with state, over rows packed by slot. */
private[planner] object StreamOperator {

  /**
   * @param sides the rows of each side, with its columns
   * @param mode  append, or update where a row may come out again
   */
  def apply(machine: StreamMachine, sides: Seq[LogicalPlan], mode: OutputMode): StreamOperator = {
    Slots.checkStateStore(SQLConf.get)
    val packed = machine.sides.zip(sides).zipWithIndex.map { case ((side, plan), number) =>
      PackSlots(
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
    StreamOperator(SlotOperator(packed, processor, time, mode, output, StreamCounts.schema), output)
  }

  /** The column that a stream's watermark is on; fails if there is none. */
  def eventTime(side: String, plan: LogicalPlan): Attribute =
    plan.output.find(hasWatermark).getOrElse {
      val times = plan.output.filter(_.dataType == org.apache.spark.sql.types.TimestampType)
      StreamErrors.noWatermark(side, times.map(_.name))
    }

  def hasWatermark(column: Attribute): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey)

  /** How late the rows may be, in milliseconds. */
  def delay(time: Attribute): Long = time.metadata.getLong(EventTimeWatermark.delayKey)

  def withoutWatermark(metadata: Metadata): Metadata =
    new MetadataBuilder().withMetadata(metadata).remove(EventTimeWatermark.delayKey).build()
}

/** @param fields of the machine's rows, the columns of `plan` */
private[planner] case class StreamOperator(plan: LogicalPlan, fields: Seq[Attribute]) {

  /** A field as the column that it was before. */
  def column(ordinal: Int, as: Attribute, metadata: Metadata): Alias =
    Alias(fields(ordinal), as.name)(as.exprId, as.qualifier, Some(metadata))
}

/** Plans what stream operators need beside Spark's own. */
object StreamStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PackSlots(number, copied, columns, keys, time, fanout, output, child) =>
      // In a stream it is that of the session that runs the query, which the checkpoint decides.
      val partitions = Slots.partitions(SQLConf.get)
      Seq(PackSlotsExec(
        NamedExpression.newExprId.id,
        number,
        copied,
        columns,
        keys,
        time,
        fanout,
        output,
        partitions,
        planLater(child)))
    case SlotRows(_, output, child) => Seq(SlotRowsExec(output, planLater(child)))
    case _ => Nil
  }
}
