// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, Expression, Literal
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  ClockMetadata, MissingWatermark, StreamErrors
}
import org.apache.spark.sql.intervalsweep.streams.ongoing.SerializedKey
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  Fanout, PartitionedBatches, StatePartitions, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{PartitionProcessor, StateIdentity}
import org.apache.spark.sql.intervalsweep.temporal.streams.SequencedStream
import org.apache.spark.sql.intervalsweep.temporal.nodes.Emit
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{BinaryType, MetadataBuilder}

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
          StreamErrors.otherWatermark(
            "input of sequenced",
            "the period",
            start.name,
            other)
        case _ => MissingWatermark.fail("input of sequenced", input)
      }

  private def slices(goesOn: Boolean): LogicalPlan = {
    val sides = stream.inputs.zipWithIndex.map { case (input, number) => rows(input, number) }
    val chunk = AttributeReference("chunk", BinaryType, nullable = false)()
    val valid = stateful(sides, new ValidRowsProcessor(sides.size, identity), Seq(chunk))
    SliceHistory(stream.query, goesOn, chunk, stream.query.newOutput(), valid)
  }

  private def rows(input: LogicalPlan, number: Int): PartitionedBatches = {
    val (values, ends) = input.output.splitAt(input.output.size - 2)
    val fields = Seq(
      Literal(number),
      PeriodEndpoint(ends.head, isEnd = false),
      PeriodEndpoint(ends.last, isEnd = true),
      SerializedKey(values))
    val named = Seq("input", "start", "end", "values").zip(fields).map { case (name, field) =>
      Alias(field, name)()
    }
    val columns = named.map(_.toAttribute)
    val time = Some(columns(ValidRow.Start))
    PartitionedBatches(
      number,
      columns,
      Nil,
      time,
      Fanout(0, isSpread = true),
      Project(named, input))
  }

  /** Joins the pieces of each row. */
  private def joined(pieces: LogicalPlan): LogicalPlan = {
    val (values, ends) = pieces.output.splitAt(pieces.output.size - 2)
    val fields = Seq[Expression](
      SerializedKey(values),
      PeriodEndpoint(ends.head, isEnd = false),
      PeriodEndpoint(ends.last, isEnd = true))
    val named = Seq("values", "start", "end").zip(fields).map { case (name, field) =>
      Alias(field, name)()
    }
    val columns = named.map(_.toAttribute)
    val side = PartitionedBatches(
      0,
      columns,
      Seq(columns(OpenResult.Values)),
      None,
      Fanout.One,
      Project(named, pieces))
    stateful(
      Seq(side),
      new OpenResultsProcessor(values.size, identity),
      pieces.output.map(_.newInstance()))
  }

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
    val columns = values.zip(stream.output).map { case (value, column) =>
      Alias(value, column.name)(
        column.exprId,
        column.qualifier,
        Some(ClockMetadata.withoutClocks(value.metadata)))
    }
    val period = Seq(from -> None, to -> Some(eventTime)).zip(stream.output.takeRight(2)).map {
      case ((value, metadata), column) =>
        Alias(value, column.name)(column.exprId, explicitMetadata = metadata)
    }
    Project(columns ++ period, rows)
  }
}
