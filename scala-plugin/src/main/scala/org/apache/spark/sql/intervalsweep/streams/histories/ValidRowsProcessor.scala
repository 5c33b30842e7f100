// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  OperatorOutput, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.{StateIdentity, TimeBuckets}
import org.apache.spark.sql.streaming.TimerValues
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType}

/**
 * Stores the rows of all streams of a history while they are valid. In each micro-batch that moves
 * the watermark it emits the chunks with the rows that are valid between the two watermarks.
 *
 * @param inputs the number of streams
 */
final class ValidRowsProcessor(
    inputs: Int,
    identity: StateIdentity,
    override val partitions: Option[Int] = None)
    extends HistoryProcessor(ValidRow.types, identity) {
  override def kind: String = "valid_rows"

  override protected def run(
      partition: Any,
      rows: Iterator[Any],
      times: TimerValues,
      fired: Option[Long]): Iterator[InternalRow] = {
    val store = new TimeBuckets(state, layout, ValidRowsProcessor.BucketMicros)
    val watermark = times.getCurrentWatermarkInMs()
    val slice = Slice.ofMillis(store.watermark, watermark)
    val counts = new HistoryCounts
    val stored = if (slice.isEmpty) Nil else chunksOf(store, slice)
    val added = add(StatefulOperatorPlan.chunks(rows, inputs).flatten, slice, store, counts)
    counts.expired += store.expire(LeftSide, slice.now)
    state.moveTimer(store.metadata, watermark, fired)
    store.save(watermark)
    counts.stored = store.numRows
    counts.open = store.of(LeftSide).filter(_.last == Long.MaxValue).map(_.rows).sum
    val emitted = (stored ++ added).iterator.map(InternalRow(_))
    OperatorOutput.objects(emitted, counts.row, isSingle = false)
  }

  /** The stored chunks that may have rows of the slice. */
  private def chunksOf(store: TimeBuckets, slice: Slice): Seq[Array[Byte]] =
    store.of(LeftSide).toSeq
      .filter(bucket => bucket.last > slice.before && bucket.minTime <= slice.now)
      .flatMap(state.runs.chunks)

  /** Stores the new rows; returns those of the slice as a chunk. */
  private def add(
      chunks: Seq[Array[Byte]],
      slice: Slice,
      store: TimeBuckets,
      counts: HistoryCounts): Option[Array[Byte]] = {
    val packer = new RowPacker(ValidRow.types.length)
    for (chunk <- chunks; row <- RowUnpacker.unsafeRows(chunk, ValidRow.types.length)) {
      val (start, end) = (row.getLong(ValidRow.Start), row.getLong(ValidRow.End))
      if (start <= slice.before) counts.late += 1
      else {
        if (!slice.isEmpty && start <= slice.now) packer.add(row)
        if (end > slice.now) store.add(LeftSide, end, row, start)
      }
    }
    Option.when(packer.numRows > 0)(packer.take())
  }

  override protected def of(number: Int): ValidRowsProcessor =
    new ValidRowsProcessor(inputs, identity, Some(number))

  override def toString: String = "ValidRows"
}

private object ValidRowsProcessor {

  /** The width of the time buckets that rows expire with. */
  val BucketMicros: Long = 60L * 1000 * 1000
}

/**
 * A stored row:
 * {{{
 *   the number of its stream INT | start LONG | end LONG | the values as a row BINARY
 * }}}
 */
private[histories] object ValidRow {
  val Input = 0
  val Start = 1
  val End = 2
  val Values = 3
  val types: Array[DataType] = Array(IntegerType, LongType, LongType, BinaryType)

  /**
   * The rows of a stream that are valid in a slice or at its end, with their periods.
   *
   * @param values the number of columns without the period
   */
  def of(
      chunks: Iterator[Array[Byte]],
      input: Int,
      values: Int,
      slice: Slice): Iterator[InternalRow] = {
    val result = new PeriodRow(values)
    chunks.flatMap(RowUnpacker.unsafeRows(_, types.length))
      .filter { row =>
        row.getInt(Input) == input && row.getLong(Start) <= slice.now &&
        row.getLong(End) > slice.before
      }
      .map(row => result(row.getBinary(Values), row.getLong(Start), row.getLong(End)))
  }
}

/**
 * A row whose values are stored as bytes, with its period: NULL for unbounded. The row that is
 * returned is valid until the next call.
 *
 * @param values the number of columns without the period
 */
private[histories] final class PeriodRow(values: Int) {
  private val row = new UnsafeRow(values)
  private val period = new GenericInternalRow(2)
  private val joined = new JoinedRow(row, period)

  def apply(bytes: Array[Byte], start: Long, end: Long): InternalRow = {
    row.pointTo(bytes, bytes.length)
    period.update(0, time(start))
    period.update(1, time(end))
    joined
  }

  private def time(end: Long): Any =
    if (end == Long.MinValue || end == Long.MaxValue) null else end
}
