// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import scala.collection.mutable

import org.apache.spark.{PartitionIdPassthrough, ShuffleDependency, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec, LogicalRDD, ShuffledRowRDD, SparkPlan, UnaryExecNode, UnsafeRowSerializer
}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.compat.OperatorState
import org.apache.spark.sql.intervalsweep.execution.packing.RowShuffle
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.temporal.streams.{SlicedQuery, StreamRows}
import org.apache.spark.sql.types.{BinaryType, DataType}

/**
 * The history of a query in the slice of time from the previous watermark to this one.
 *
 * @param goesOn whether the history also has the instant of this watermark, which tells the rows
 *               that go on from those that end there
 * @param output the values, then the start and the end of a period
 * @param chunk  the column with the chunks of valid rows that [[ValidRowsProcessor]] emits
 */
case class SliceHistory(
    query: SlicedQuery,
    goesOn: Boolean,
    chunk: Attribute,
    override val output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def innerChildren: Seq[LogicalPlan] = Seq(query.body)

  override protected def stringArgs: Iterator[Any] = Iterator(output)

  override protected def withNewChildInternal(newChild: LogicalPlan): SliceHistory =
    copy(child = newChild)
}

/**
 * Plans and runs the query in each micro-batch, like a query over tables.
 * {{{
 *   the query's own jobs and stages      may read the rows several times, also in other jobs
 *     a stage: valid rows, by stream
 *       ShuffledRowRDD                   each partition of the state in its own file
 *         TransformWithState             runs once per micro-batch
 * }}}
 */
case class SliceHistoryExec(
    @transient query: SlicedQuery,
    goesOn: Boolean,
    override val output: Seq[Attribute],
    child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "SliceHistory"

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def innerChildren: Seq[LogicalPlan] = Seq(query.body)

  override protected def stringArgs: Iterator[Any] = Iterator(output)

  override lazy val metrics: Map[String, SQLMetric] = RowShuffle.createMetrics(sparkContext)

  override protected def doExecute(): RDD[InternalRow] = {
    val slice = currentSlice
    if (slice.isEmpty) child.execute().mapPartitionsInternal { chunks =>
      chunks.foreach(_ => ())
      Iterator.empty
    }
    else {
      val chunks = new StoredChunks(child.execute(), metrics)
      val end = if (goesOn) slice.now + 1 else slice.now
      val inputs = mutable.HashMap.empty[Int, RDD[InternalRow]]
      val plan = query.history(
        slice.before,
        end,
        leaf => {
          val rows = inputs.getOrElseUpdate(leaf.number, rowsOf(leaf, chunks.rows, slice))
          LogicalRDD(leaf.output, rows)(session)
        })
      val history = session.sessionState.executePlan(plan).toRdd
      sparkContext.union(history, chunks.none)
    }
  }

  private def currentSlice: Slice = {
    val found = for {
      state <- OperatorState.of(child)
      before <- state.before
      now <- state.now
    } yield Slice.ofMillis(before, now)
    found.getOrElse(StreamErrors.noEventTime("input of sequenced", "call withWatermark on it"))
  }

  private def rowsOf(
      leaf: StreamRows,
      chunks: RDD[Array[Byte]],
      slice: Slice): RDD[InternalRow] = {
    val (input, values) = (leaf.number, leaf.output.size - 2)
    chunks.mapPartitionsInternal(ValidRow.of(_, input, values, slice))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SliceHistoryExec =
    copy(child = newChild)
}

/** The chunks of valid rows, which a job writes once and any job can read. */
private final class StoredChunks(emitted: RDD[InternalRow], metrics: Map[String, SQLMetric]) {
  private val dependency = new ShuffleDependency[Int, InternalRow, InternalRow](
    emitted.mapPartitionsInternal { chunks =>
      val partition = TaskContext.getPartitionId()
      val project = UnsafeProjection.create(Array[DataType](BinaryType))
      chunks.map(chunk => (partition, project(chunk)))
    },
    new PartitionIdPassthrough(emitted.getNumPartitions),
    new UnsafeRowSerializer(1),
    shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(metrics))

  def rows: RDD[Array[Byte]] =
    new ShuffledRowRDD(dependency, metrics).mapPartitionsInternal(_.map(_.getBinary(0)))

  /** No rows. It makes the job write the chunks, and so the state, if the query reads none. */
  def none: RDD[InternalRow] =
    new ShuffledRowRDD(dependency, metrics, Array(CoalescedPartitionSpec(0, 0)))
}
