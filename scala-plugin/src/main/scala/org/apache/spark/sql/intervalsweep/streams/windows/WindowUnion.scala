// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeProjection}
import org.apache.spark.sql.intervalsweep.condition.expiry.{TimeWindow, WindowEnd}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, KeyGroups, RowBlock, TaskMemory
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{Fanout, StreamSide}
import org.apache.spark.sql.intervalsweep.streams.state.{
  SchemaEvolution, StateIdentity, StateLayout, StoredRun
}
import org.apache.spark.sql.types.{BooleanType, IntegerType, StructField, StructType}

/**
 * For each base row, aggregates over the probe rows of its key in a window around its time: the
 * online interval join of Scale-OIJ. A base row is emitted when no later row can change the result;
 * with `revision` it is emitted at once, and again when the result changes.
 *
 * {{{
 *                    lower           time of the base row     upper
 *   probe rows  ------[------x---x-------------x-----x-----x---]------x------> time
 *                                                              ^
 *             final when the watermark is here: probe rows that arrive later have a later time
 * }}}
 * Invariant: a base row is stored until the watermark reaches the upper end of its window. A probe
 * row is stored as long as the window of a stored base row, or of one that may still arrive, can
 * contain it: for PRE + FOL after its time, if windows reach from PRE before the base row's time to
 * FOL behind it.
 *
 * Cost per micro-batch: a sort of the emitted base rows and of the probe rows that are read.
 * Counts, sums and extremes then take O(1) amortized per row ([[SlidingRuns]]); other aggregates,
 * and a residual condition, take a step for each row of each window ([[RowAtATimeAggregator]]).
 *
 * @param base       the columns of the base rows
 * @param payload    those of them that are returned
 * @param upperBound the column of the base rows with the upper end of the window, if the end must
 *                   be computed per row; likewise `lowerBound`
 * @param results    the aggregates over the probe rows
 * @param residual   the residual condition of a base and a probe row
 * @param revision   the column of the base rows with the revision number, if rows are emitted
 *                   before their windows are final
 * @param partitionsPerKey the number of partitions for the base rows of a key; 0 for all
 */
case class WindowUnion(
    base: StreamSide,
    payload: Seq[Attribute],
    lowerBound: Option[Attribute],
    upperBound: Option[Attribute],
    probe: StreamSide,
    window: TimeWindow,
    results: Seq[WindowResult],
    residual: Option[Expression],
    revision: Option[Attribute],
    partitionsPerKey: Int,
    latenessMicros: Long)
    extends StreamOperatorLogic {
  import WindowUnion._

  override def sides: Seq[StreamSide] = Seq(base, probe)

  override def output: StructType = StructType(
    payload.map(a => StructField(a.name, a.dataType, a.nullable)) ++
      results.map(r => StructField(r.name, r.dataType, nullable = true)) ++
      revision.toSeq.flatMap(_ =>
        Seq(
          StructField("revision", IntegerType, nullable = false),
          StructField("is_final", BooleanType, nullable = false))))

  /** Final rows are known only when a micro-batch ends, so only revisions can go row by row. */
  override def takesRowByRow: Boolean = revision.isDefined

  override def fanout: Seq[Fanout] =
    Seq(Fanout(partitionsPerKey, isSpread = true), Fanout(partitionsPerKey, isSpread = false))

  private def pre: Long = window.lower.slack - window.lower.offset
  private def fol: Long = window.upper.slack + window.upper.offset

  /** How long after its time a probe row may still be read, in microseconds. */
  private val keptFor: Long = pre + math.max(fol, 0)

  override val bucketMicros: Long = math.max(1000L, (math.max(keptFor, 0) + latenessMicros) / 64)

  override val state: StateLayout = StateLayout(
    Map(Base -> base.types.toSeq, Probe -> probe.types.toSeq),
    identity(base),
    (math.max(0, payload.size - SchemaEvolution.MostAdded) until payload.size).map(fewer).toMap)

  /** The identity and the row layout of the query that returns only the first `n` columns. */
  private def fewer(n: Int): (String, Map[Side, SchemaEvolution]) = {
    val kept = (0 until n) ++ (payload.size until base.columns.size)
    val before = base.copy(columns = kept.map(base.columns(_)))
    identity(before).digest -> Map(Base -> SchemaEvolution(kept.size, kept))
  }

  private def identity(base: StreamSide): StateIdentity = {
    def schema(side: StreamSide): String =
      side.columns.map(c => s"${c.name} ${c.dataType.sql}").mkString(", ")
    def keys(side: StreamSide): String = side.keys.map(k => side.ordinal(k)).mkString(", ")
    StateIdentity(Seq(
      "columns of the base rows" -> schema(base),
      "columns of the probe rows" -> schema(probe),
      "keys" -> s"${keys(base)} = ${keys(probe)}",
      "spark.sql.intervalsweep.streamFanout" -> partitionsPerKey.toString,
      "window" -> s"${window.lower.offset} to ${window.upper.offset} microseconds"))
  }

  override def toString: String = {
    val keys = base.keys.zip(probe.keys).map { case (b, p) => s"$b = $p" }
    val times =
      s"${probe.time} from ${seconds(window.lower)} to ${seconds(window.upper)} s around ${base.time}"
    val by = results.map(r => if (r.kind.isDefined && residual.isEmpty) "runs" else "rows").distinct
    val parts = keys ++ Seq(times) ++ residual.map(_.sql) ++
      Seq(
        s"aggregates by ${by.mkString(" and ")}",
        if (revision.isDefined) "eager" else "final",
        s"probe rows kept for ${keptFor / 1e6} s, in time buckets of ${bucketMicros / 1e6} s")
    s"WindowUnion [${parts.mkString(", ")}]"
  }

  private def seconds(end: WindowEnd): Double = end.offset / 1e6

  @transient private lazy val values =
    new WindowResults(results, base.columns, probe.columns, residual)
  @transient private lazy val sums = new BucketAggregates(results, probe, values)
  @transient private lazy val toUnsafe = UnsafeProjection.create(base.types)
  private val lowerOrdinal = lowerBound.map(base.ordinal)
  private val upperOrdinal = upperBound.map(base.ordinal)
  private val probeKeys = probe.keys.map(probe.ordinal)

  /** The first and the last time of a base row's window, both inclusive. */
  private def lowerEnd(row: InternalRow): Long = end(row, lowerOrdinal, window.lower.offset)
  private def upperEnd(row: InternalRow): Long = end(row, upperOrdinal, window.upper.offset)

  private def end(row: InternalRow, computed: Option[Int], offset: Long): Long =
    computed.fold(row.getLong(base.timeOrdinal) + offset)(row.getLong)

  /** The memory of the task that runs this instance. Its calls do not overlap. */
  @transient private lazy val memory: TaskMemory = {
    val context = TaskContext.get()
    val own = new TaskMemory(context.taskMemoryManager())
    context.addTaskCompletionListener[Unit](_ => own.releaseAll())
    own
  }

  override def run(batch: PartitionBatch): Iterator[InternalRow] = {
    // The rows that the previous call returned are not needed any more.
    memory.releaseAll()
    val rows = new BaseSideBuffer(base, (lowerBound ++ upperBound).toSeq, probe, memory)
    val found = if (revision.isDefined) eager(batch, rows) else atTheEnd(batch, rows)
    batch.store.expire(Base, batch.now)
    batch.counts.expired += batch.store.expire(Probe, batch.now)
    found
  }

  /** Emits the rows whose windows are final; the others wait in the state. */
  private def atTheEnd(batch: PartitionBatch, rows: BaseSideBuffer): Iterator[InternalRow] = {
    batch.rows(Base).foreach { row =>
      if (!rows.hasWindow(row)) rows.withoutWindow.append(row, KeyGroups.NoGroup)
      else {
        val end = upperEnd(row)
        if (end <= batch.now) rows.keyed.append(row)
        else batch.store.add(Base, end, row, row.getLong(base.timeOrdinal))
      }
    }
    for {
      bucket <- batch.store.of(Base) if bucket.first <= batch.now
      row <- batch.store.rows(bucket)
      end = upperEnd(row)
      if end > batch.before && end <= batch.now && rows.hasWindow(row)
    } rows.keyed.append(row)
    columns(rows.block, aggregates(batch, rows, arrived(batch))) ++
      columns(rows.withoutWindow, values.ofNone(rows.withoutWindow.numRows))
  }

  /**
   * Emits rows at once, again when a probe row arrives in their window, and again when the window
   * is final. A row that waits is stored again with its revision number.
   */
  private def eager(batch: PartitionBatch, rows: BaseSideBuffer): Iterator[InternalRow] = {
    val news = arrivals(batch, rows)
    revised(batch, news, rows)
    batch.rows(Base).foreach { row =>
      if (rows.hasWindow(row)) rows.keyed.append(row)
      else rows.withoutWindow.append(row, KeyGroups.NoGroup)
    }
    val found = aggregates(batch, rows, news.all)
    val revisions = new Revisions(rows.block, base.ordinal(revision.get))
    for (i <- 0 until rows.block.numRows) {
      val end = upperEnd(revisions.at(i))
      revisions.raise(i, end <= batch.now)
      if (end > batch.now) {
        val row = revisions.at(i)
        batch.store.add(Base, end, toUnsafe(row), row.getLong(base.timeOrdinal))
      }
    }
    batch.counts.revisions += rows.block.numRows
    val withoutWindow = new Revisions(rows.withoutWindow, base.ordinal(revision.get))
    (0 until rows.withoutWindow.numRows).foreach(withoutWindow.raise(_, isFinal = true))
    columns(rows.block, found ++ revisions.columns) ++
      columns(
        rows.withoutWindow,
        values.ofNone(rows.withoutWindow.numRows) ++ withoutWindow.columns)
  }

  private def arrivals(batch: PartitionBatch, rows: BaseSideBuffer): NewProbeIndex = {
    val news = rows.allProbes()
    for (row <- arrived(batch) if news.read(row)) news.append(row)
    new NewProbeIndex(news, rows.like(news))
  }

  /** Takes the stored rows to emit again. Buckets without these rows are not rewritten. */
  private def revised(batch: PartitionBatch, news: NewProbeIndex, rows: BaseSideBuffer): Unit = {
    def isOut(row: InternalRow): Boolean =
      upperEnd(row) <= batch.now || news.areIn(row, lowerEnd(row), upperEnd(row))
    def isDue(bucket: StoredRun): Boolean =
      bucket.first <= batch.now ||
        news.reach(bucket.minTime - pre, bucket.maxTime + fol)
    for (bucket <- batch.store.of(Base).filter(isDue).toSeq)
      if (batch.store.rows(bucket).exists(isOut)) {
        batch.store.rows(bucket).foreach { row =>
          if (!isOut(row)) batch.store.add(Base, upperEnd(row), row, row.getLong(base.timeOrdinal))
          else if (rows.hasWindow(row)) rows.keyed.append(row)
        }
        batch.store.drop(bucket)
      }
  }

  private def columns(block: RowBlock, results: Array[BlockColumn]): Iterator[InternalRow] =
    new BlockRowIterator(
      payload.map(base.ordinal).map(block.columns(_)).toArray ++ results,
      Array.range(0, block.numRows))

  private def aggregates(
      batch: PartitionBatch,
      rows: BaseSideBuffer,
      arrived: Iterator[InternalRow]): Array[BlockColumn] = {
    rows.block.sort()
    val buckets = batch.store.of(Probe)
    val sweep = new WindowSweep(batch, buckets, probe, rows, ends(rows.block), keptFor, memory)
    sweep.results(arrived, values, sums)
  }

  /** The new probe rows with a key and a time. Those that may be read later are also stored. */
  private def arrived(batch: PartitionBatch): Iterator[InternalRow] =
    batch.rows(Probe).filter { row =>
      val isAny = !row.isNullAt(probe.timeOrdinal) && !probeKeys.exists(row.isNullAt)
      if (isAny) {
        val time = row.getLong(probe.timeOrdinal)
        if (time + keptFor > batch.now) batch.store.add(Probe, time + keptFor, row, time)
      }
      isAny
    }

  /** The lower and the upper ends of the windows of a block's rows. */
  private def ends(block: RowBlock): WindowEnds = new WindowEnds(
    block.endpoints(if (lowerBound.isDefined) 1 else 0),
    if (lowerBound.isDefined) 0 else window.lower.offset,
    block.endpoints(if (upperBound.isDefined) block.endpoints.length - 1 else 0),
    if (upperBound.isDefined) 0 else window.upper.offset)
}

object WindowUnion {
  val Base: Side = LeftSide
  val Probe: Side = RightSide
}
