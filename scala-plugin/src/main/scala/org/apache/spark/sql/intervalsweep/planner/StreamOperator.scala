// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner

import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoders, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, CreateStruct, Expression, GetStructField, NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  EventTimeWatermark, LocalRelation, LogicalPlan, TransformWithState, Union
}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.{
  ObservedCounts, PackSlots, PackSlotsExec, Slots, StreamErrors,
  StreamMachine, StreamProcessor
}
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
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
      PackSlots(number, side, machine.fanout(number), plan)
    }
    val rows = Union(packed)
    val slot = rows.output.head
    // Spark binds what it reads of a row to these, and gives it the whole row.
    val data = rows.output
    val item = CreateStruct(data.tail)
    val result = AttributeReference("rows", StreamProcessor.output(machine), nullable = false)()
    val processor: StatefulProcessor[_, _, _] = new StreamProcessor(machine)
    val node = new TransformWithState(
      slot,
      item,
      Seq(slot),
      data,
      processor.asInstanceOf[StatefulProcessor[Any, Any, Any]],
      TimeMode.EventTime(),
      mode,
      ExpressionEncoder(AgnosticEncoders.PrimitiveIntEncoder).asInstanceOf[ExpressionEncoder[Any]],
      result,
      rows,
      hasInitialState = false,
      Seq(slot),
      data,
      item,
      LocalRelation(slot))
    StreamOperator(ObservedCounts(node, result), result, machine)
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

/** @param rows the column of `plan` that has the machine's rows */
private[planner] case class StreamOperator(
    plan: LogicalPlan,
    rows: Attribute,
    machine: StreamMachine) {

  /** A field of the rows. */
  def field(ordinal: Int): Expression =
    GetStructField(rows, ordinal, Some(machine.output(ordinal).name))

  /** A field as the column that it was before. */
  def column(ordinal: Int, as: Attribute, metadata: Metadata): Alias =
    Alias(field(ordinal), as.name)(as.exprId, as.qualifier, Some(metadata))
}

/** Plans what stream operators need beside Spark's own. */
object StreamStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PackSlots(number, columns, keys, time, fanout, output, child) =>
      // In a stream it is that of the session that runs the query, which the checkpoint decides.
      val partitions = Slots.partitions(SQLConf.get)
      Seq(PackSlotsExec(
        NamedExpression.newExprId.id,
        number,
        columns,
        keys,
        time,
        fanout,
        output,
        partitions,
        planLater(child)))
    case _ => Nil
  }
}
