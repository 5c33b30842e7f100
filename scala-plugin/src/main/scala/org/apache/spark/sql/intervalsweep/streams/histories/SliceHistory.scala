// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{LogicalRDD, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.compat.OperatorState
import org.apache.spark.sql.intervalsweep.execution.packing.RowShuffle
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.temporal.streams.SlicedQuery

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
 *     a stage: valid rows, by stream     combined by key where a sweep reads them
 *       SliceRows                        each partition of the state in its own file
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

  override lazy val metrics: Map[String, SQLMetric] = RowShuffle.createMetrics(sparkContext) +
    (SliceRows.Combined -> SQLMetrics.createMetric(sparkContext, "rows combined by their keys"))

  override protected def doExecute(): RDD[InternalRow] = {
    val slice = currentSlice
    if (slice.isEmpty) child.execute().mapPartitionsInternal { chunks =>
      chunks.foreach(_ => ())
      Iterator.empty
    }
    else {
      val end = if (goesOn) slice.now + 1 else slice.now
      val rows = new SliceRows(child.execute(), slice, end, metrics)
      val inputs = mutable.HashMap.empty[Int, RDD[InternalRow]]
      val plan = query.history(
        slice.before,
        end,
        // Otherwise OpenResults joins the pieces of a row.
        coalesce = !goesOn,
        leaf => {
          val all = inputs.getOrElseUpdate(
            leaf.number,
            new WholeRows(rows, leaf.number, leaf.output.size - 2))
          LogicalRDD(leaf.output, all)(session)
        })
      SQLConf.withExistingConf(ofSlices) {
        val history = session.sessionState.executePlan(plan)
        rows.readBy(history.executedPlan)
        sparkContext.union(history.toRdd, rows.none)
      }
    }
  }

  /**
   * The settings with at most two partitions for each core. A stream has as many as its state,
   * often 200, which are too many for the rows of a slice. Spark's adaptive execution is off in
   * streams.
   */
  private def ofSlices: SQLConf = {
    val settings = SQLConf.get.clone()
    val enough = 2 * sparkContext.defaultParallelism
    if (settings.numShufflePartitions > enough)
      settings.setConf(SQLConf.SHUFFLE_PARTITIONS, enough)
    settings
  }

  private def currentSlice: Slice = {
    val found = for {
      state <- OperatorState.of(child)
      before <- state.before
      now <- state.now
    } yield Slice.ofMillis(before, now)
    found.getOrElse(StreamErrors.noEventTime("input of sequenced", "call withWatermark on it"))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SliceHistoryExec =
    copy(child = newChild)
}
