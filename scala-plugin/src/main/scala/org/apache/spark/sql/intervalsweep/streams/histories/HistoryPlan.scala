// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, Expression, GetStructField, If, Literal
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  ClockMetadata, MissingWatermark, StreamErrors
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  Fanout, PartitionedBatches, SerializedKey, StatePartitions, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{PartitionProcessor, StateIdentity}
import org.apache.spark.sql.intervalsweep.temporal.streams.{SequencedStream, StreamInput}
import org.apache.spark.sql.intervalsweep.temporal.nodes.Emit
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{BinaryType, DataType, MetadataBuilder, StructType}

/**
 * The plan of a history of streams:
 * {{{
 *   OperatorOutput
 *     TransformWithState OpenResults      only if rows are emitted when they have ended
 *       PartitionedBatches                by the values
 *         SliceHistory                    the query, from the previous watermark to this one
 *           OperatorOutput
 *             TransformWithState ValidRows
 *               Union
 *                 PartitionedBatches      of each stream
 * }}}
 */
final class HistoryPlan(stream: SequencedStream) {
  private val conf = SQLConf.get
  StatePartitions.checkStateStore(conf)
  if (!conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE))
    StreamErrors.multipleOperators(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key)
  stream.inputs.zip(stream.starts).foreach { case (input, start) => checkWatermark(input, start) }

  private val identity = StateIdentity(Seq("query" -> QueryText(stream)))

  def plan: LogicalPlan = stream.emit match {
    case Emit.Final => shown(joined(slices(goesOn = true)))
    case Emit.Early => shown(slices(goesOn = false))
  }

  private def checkWatermark(input: LogicalPlan, start: Attribute): Unit =
    if (!ClockMetadata.eventTimeLag(start).contains(0L))
      input.collectFirst { case w: EventTimeWatermark => w.eventTime.name } match {
        case Some(other) if other != start.name =>
          StreamErrors.otherWatermark("input of sequenced", "the period", start.name, other)
        case _ => MissingWatermark.fail("input of sequenced", input)
      }

  private def slices(goesOn: Boolean): LogicalPlan = {
    val sides = stream.inputs.zip(stream.changes).zipWithIndex.map {
      case ((input, areChanges), number) =>
        if (areChanges) changes(input, number) else rows(input, number)
    }
    val chunk = AttributeReference("chunk", BinaryType, nullable = false)()
    val valid = stateful(sides, new ValidRowsProcessor(sides.size, orders, identity), Seq(chunk))
    SliceHistory(stream.query, goesOn, chunk, stream.output.map(_.newInstance()), valid)
  }

  private def rows(input: LogicalPlan, number: Int): PartitionedBatches = {
    val values = "values" -> SerializedKey(input.output.dropRight(2))
    val fields = named("input" -> Literal(number)) ++ period(input) ++ named(values)
    val columns = fields.map(_.toAttribute)
    val time = Some(columns(ValidRow.Start))
    val everywhere = Fanout(0, isSpread = true)
    PartitionedBatches(number, columns, Nil, time, everywhere, Project(fields, input))
  }

  /** The changes of a key go to one partition. */
  private def changes(input: LogicalPlan, number: Int): PartitionedBatches = {
    val change = input.output
    val rows = change.drop(StreamInput.ChangeColumns)
    val starts = named("start" -> PeriodEndpoint(rows.init.last, isEnd = false))
    val end = If(change(StreamInput.Deleted), Literal(Change.Deleted), Literal(Long.MaxValue))
    val fields = named("input" -> Literal(number)) ++ starts ++
      named("end" -> end, "values" -> SerializedKey(rows.dropRight(2))) ++
      named(
        "key" -> SerializedKey(fieldsOf(change(StreamInput.Key))),
        "order" -> SerializedKey(fieldsOf(change(StreamInput.Order))))
    val columns = fields.map(_.toAttribute)
    val keys = Seq(columns(Change.Key))
    PartitionedBatches(number, columns, keys, None, Fanout.One, Project(fields, input))
  }

  private def fieldsOf(struct: Attribute): Seq[Expression] =
    typesOf(struct).indices.map(GetStructField(struct, _))

  private def typesOf(struct: Attribute): Seq[DataType] =
    struct.dataType.asInstanceOf[StructType].map(_.dataType)

  /** The types of the columns that order the changes of an instant, by input. */
  private def orders: Map[Int, Seq[DataType]] = stream.inputs.zip(stream.changes).zipWithIndex
    .collect { case ((input, true), number) =>
      number -> typesOf(input.output(StreamInput.Order))
    }.toMap

  /** Joins the pieces of each row. */
  private def joined(pieces: LogicalPlan): LogicalPlan = {
    val counts = stream.query.counts
    val own = pieces.output.dropRight(if (counts) 3 else 2)
    val count = if (counts) pieces.output(own.size) else Literal(0L)
    val fields =
      named("values" -> SerializedKey(own)) ++ period(pieces) ++ named("count" -> count)
    val columns = fields.map(_.toAttribute)
    val keys = Seq(columns(OpenResult.Values))
    val side = PartitionedBatches(0, columns, keys, None, Fanout.One, Project(fields, pieces))
    stateful(
      Seq(side),
      new OpenResultsProcessor(own.size, counts, stream.maxLength, identity),
      pieces.output.map(_.newInstance()))
  }

  private def period(rows: LogicalPlan): Seq[Alias] = {
    val ends = rows.output.takeRight(2)
    named(
      "start" -> PeriodEndpoint(ends.head, isEnd = false),
      "end" -> PeriodEndpoint(ends.last, isEnd = true))
  }

  private def named(fields: (String, Expression)*): Seq[Alias] =
    fields.map { case (name, field) => Alias(field, name)() }

  private def stateful(
      sides: Seq[PartitionedBatches],
      processor: PartitionProcessor,
      output: Seq[Attribute]): LogicalPlan = StatefulOperatorPlan(
    sides,
    processor,
    TimeMode.EventTime(),
    OutputMode.Append(),
    output,
    HistoryCounts.schema)

  /** The columns of the history, with the end of the period as the event time. */
  private def shown(rows: LogicalPlan): LogicalPlan = {
    val (values, ends) = rows.output.splitAt(rows.output.size - 2)
    val (from, to) = stream.query.shown(ends.head, ends.last)
    val eventTime = new MetadataBuilder().putLong(EventTimeWatermark.delayKey, 0L).build()
    val metadata = values.map(v => Some(ClockMetadata.withoutClocks(v.metadata))) ++
      Seq(None, Some(eventTime))
    val columns = (values :+ from :+ to).zip(stream.output).zip(metadata).map {
      case ((value, column), metadata) =>
        Alias(value, column.name)(column.exprId, column.qualifier, metadata)
    }
    Project(columns, rows)
  }
}
