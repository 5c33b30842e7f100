// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.{
  AddressedRow, CollectPacked, RowPacker, RowShuffle, RowUnpacker
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  MeasureKind, PeriodMeasure, PeriodRule, TemporalErrors
}

/**
 * Ranges of time for a sweep without keys. A task sweeps one range.
 * {{{
 *   cuts           3         8
 *   ranges   ...  )[ 3 .. 7 ][ 8 ...
 *   row 1     [--------------------)    goes to all three, clipped to each
 * }}}
 * Cut points are instants at which the result changes anyway, so no output period spans two ranges:
 * - If every start and end of a row divides the result, these are all starts and ends.
 * - For islands and gaps, these are the instants before which nothing is valid.
 * - Otherwise, these are the instants at which the rows that start and end change a sum that is in
 *   the result.
 *
 * See docs/decisions/0010-time-is-cut-where-the-result-changes.md.
 */
private[periods] case class PeriodRanges(cuts: Array[Long]) {

  def count: Int = cuts.length + 1

  /** The range of an instant: the number of cuts at or before it. */
  def of(instant: Long): Int = {
    val at = java.util.Arrays.binarySearch(cuts, instant)
    if (at >= 0) at + 1 else -at - 1
  }

  /** The first instant of a range, and the first one after it. */
  def limits(range: Int): (Long, Long) = (
    if (range == 0) Long.MinValue else cuts(range - 1),
    if (range == cuts.length) Long.MaxValue else cuts(range))
}

private[periods] object PeriodRanges {

  /**
   * The instants that are sampled for each range, and the rows that are sampled in each partition.
   */
  private val SamplesPerRange = 64
  private val RowsPerPartition = 1000
  private val RowsPerCheck = 1 << 12

  /** The most rows that the driver gets instead of a sample: of each partition, and in total. */
  private val FewPerPartition = 1 << 12
  private val FewRows = 1 << 18

  /** The most additional ranges that a row goes to, on average. */
  private val MostCopies = 1.0

  /** True if a sweep can have ranges: it is known at which instants its result changes. */
  def mayCut(
      rule: PeriodRule,
      weight: Option[Expression],
      measures: Seq[PeriodMeasure],
      results: Seq[Expression]): Boolean =
    rule == PeriodRule.Cuts || PeriodSettings.isOfIslands(rule, weight.isDefined) ||
      telling(rule, measures, results).nonEmpty

  /** The sums that are in the result unchanged, so that the result changes whenever they do. */
  private def telling(
      rule: PeriodRule,
      measures: Seq[PeriodMeasure],
      results: Seq[Expression]): Seq[PeriodMeasure] = {
    def isState(e: Expression, state: Attribute): Boolean = e match {
      case a: Attribute => a.exprId == state.exprId
      // NULL if there are no values; their sum is 0 then.
      case If(_, Literal(null, _), value) => isState(value, state)
      case _ => false
    }
    rule match {
      case _: PeriodRule.Values =>
        measures.filter(m => m.kind == MeasureKind.Sum && results.exists(isState(_, m.state)))
      case _ => Nil
    }
  }

  /**
   * Chooses ranges. Reads all rows.
   *
   * @return the ranges, and the rows themselves if they are few and have one range
   *
   * @param rangeRows the number of rows that a range is to have
   * @param least the least number of ranges, if there are many rows
   * @param most the greatest number of ranges
   */
  def of(
      rows: RDD[InternalRow],
      settings: PeriodSettings,
      rangeRows: Long,
      least: Int,
      most: Int): (PeriodRanges, Option[FewPeriods]) = {
    val told = telling(settings.rule, settings.measures, settings.results)
    val columns = told.map(_.input)
    val kept = SamplesPerRange * most
    val few = math.min(FewPerPartition, FewRows / math.max(rows.getNumPartitions, 1))
    val parts = CollectPacked(rows.mapPartitionsInternal { partition =>
      Iterator(sampled(partition, settings, columns, kept, few))
    })
    val total = parts.map(_.rows).sum
    val wanted = total / rangeRows + 1
    val count =
      if (total <= rangeRows / 4) 1 else math.min(math.max(wanted, least.toLong), most.toLong).toInt
    val sample = new BoundarySample(kept, columns.size)
    parts.foreach(part => sample.addAll(part.instants))
    val candidates = sample.boundaryEvents
      .filter(h => told.isEmpty || h.changes.exists(_ != 0))
      .filter(h => h.instant != Long.MinValue && h.instant != Long.MaxValue)
      .sortBy(_.instant)
    val changing =
      if (settings.isOfIslands && count > 1) uncovered(rows, settings, candidates)
      else candidates
    val periods = parts.flatMap(_.periods)
    val ranges = Iterator.iterate(count)(n => if (n <= 2) 1 else n / 2)
      .map(n => PeriodRanges(quantiles(changing, n)))
      .find(ranges => ranges.count == 1 || copies(ranges, periods) <= MostCopies).get
    val areFew = ranges.count == 1 && parts.forall(_.few.isDefined)
    (ranges, Option.when(areFew)(new FewPeriods(parts.flatMap(_.few), settings.columns)))
  }

  /** @param few all rows, packed, if they are few */
  private case class TaskSample(
      rows: Long,
      instants: BoundarySample,
      periods: Array[(Long, Long)],
      few: Option[Array[Byte]])

  private def sampled(
      rows: Iterator[InternalRow],
      settings: PeriodSettings,
      columns: Seq[Expression],
      kept: Int,
      mostFew: Int): TaskSample = {
    val instants = new BoundarySample(kept, columns.size)
    val some = Array.newBuilder[(Long, Long)]
    val few = new PackedPeriods(settings.columns, mostFew)
    val read = eachPeriod(rows, settings, columns) { (row, numbers) =>
      val (start, end) = (numbers.number(0), numbers.number(1))
      def happens(instant: Long, sign: Int): Unit = instants.at(instant).foreach { event =>
        event.events += 1
        var k = 0
        while (k < event.changes.length) {
          event.changes(k) += sign * numbers.number(2 + k)
          k += 1
        }
      }
      happens(start, 1)
      happens(end, -1)
      if (some.length < RowsPerPartition) some += ((start, end))
      few.add(row)
    }
    TaskSample(read, instants, some.result(), few.all)
  }

  /**
   * Calls `look` with every row whose period is not empty, and with a reader of its start, its end
   * and further numbers. Returns the number of rows.
   */
  private def eachPeriod(
      rows: Iterator[InternalRow],
      settings: PeriodSettings,
      columns: Seq[Expression])(look: (InternalRow, KeyReader) => Unit): Long = {
    val read = settings.columns.copy(keys = Nil, numbers = columns)
    val numbers = new KeyReader(read, PeriodChunk.NoLimits)
    val context = TaskContext.get()
    var count = 0L
    while (rows.hasNext) {
      val row = rows.next()
      numbers.take(row)
      if (numbers.number(0) < numbers.number(1)) look(row, numbers)
      count += 1
      if (count % RowsPerCheck == 0) context.killTaskIfInterrupted()
    }
    count
  }

  /**
   * The instants, in order, before which no row starts that is valid up to them. The first instant
   * is left out, so that each has rows before it: the gap before the first row of a range belongs
   * to the previous range.
   */
  private def uncovered(
      rows: RDD[InternalRow],
      settings: PeriodSettings,
      sorted: Seq[BoundaryEvent]): Seq[BoundaryEvent] = {
    val instants = sorted.map(_.instant).toArray
    val parts = CollectPacked(rows.mapPartitionsInternal { partition =>
      Iterator(coverage(partition, settings, instants))
    })
    val covering = instants.indices.map(k => parts.map(_(k)).sum).scanLeft(0L)(_ + _).drop(1)
    sorted.zip(covering).drop(1).collect { case (event, 0L) => event }
  }

  /** For each instant, how many more rows span it than span the previous instant. */
  private def coverage(
      rows: Iterator[InternalRow],
      settings: PeriodSettings,
      instants: Array[Long]): Array[Long] = {
    val ranges = PeriodRanges(instants)
    val changes = new Array[Long](instants.length + 1)
    eachPeriod(rows, settings, Nil) { (_, numbers) =>
      changes(ranges.of(numbers.number(0))) += 1
      changes(ranges.of(numbers.number(1))) -= 1
    }
    changes
  }

  /** Instants that divide the starts and ends of rows into about equal parts. */
  private def quantiles(sorted: Seq[BoundaryEvent], ranges: Int): Array[Long] = {
    val upTo = sorted.scanLeft(0L)(_ + _.events).tail
    val all = upTo.lastOption.getOrElse(0L)
    (1 until ranges).flatMap { k =>
      val wanted = all * k / ranges
      sorted.lift(upTo.indexWhere(_ > wanted)).map(_.instant)
    }.distinct.toArray
  }

  /** The number of additional ranges that a row goes to, on average. */
  private def copies(ranges: PeriodRanges, some: Seq[(Long, Long)]): Double =
    if (some.isEmpty) 0.0
    else some.map { case (start, end) =>
      (ranges.of(end - 1) - ranges.of(start)).toDouble
    }.sum / some.size

  /** Sends each row to its ranges. */
  def shuffled(
      rows: RDD[InternalRow],
      settings: PeriodSettings,
      ranges: PeriodRanges,
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    val (columns, isOfIslands) = (settings.columns, settings.isOfIslands)
    val replicated = metrics(SweepMetrics.ReplicatedRows)
    val addressed = rows.mapPartitionsInternal[AddressedRow] { partition =>
      val narrow = columns.numbersOnly
      new PeriodsInRanges(partition.map(narrow), ranges, isOfIslands, replicated)
    }
    RowShuffle(addressed, ranges.count, columns.all.map(_.dataType).toArray, metrics)
  }
}

/** The rows of a task, packed, as long as they are few. */
private final class PackedPeriods(columns: PeriodColumns, most: Int) {
  private val narrow = columns.numbersOnly
  private val packer = new RowPacker(columns.all.size)
  private var areFew = true

  def add(row: InternalRow): Unit = if (areFew) {
    areFew = packer.numRows < most
    if (areFew) packer.add(narrow(row))
  }

  /** All rows; None if they are too many. Can be called once. */
  def all: Option[Array[Byte]] = Option.when(areFew)(packer.take())
}

/**
 * The rows of all tasks, which went to the driver because they are few. They need not be computed
 * again.
 */
private[periods] final class FewPeriods(chunks: Seq[Array[Byte]], columns: PeriodColumns) {

  /** The rows, in one partition, in the form of [[PeriodSettings.narrow]]. */
  def rows(sc: SparkContext): RDD[InternalRow] = {
    val types = columns.all.map(_.dataType).toArray
    sc.parallelize(chunks, numSlices = 1).mapPartitionsInternal(RowUnpacker.unpack(_, types))
  }
}

/**
 * Rows with the ranges that they go to, one after another. The object is reused.
 *
 * @param rows their first columns are the start and the end of a period
 */
private final class PeriodsInRanges(
    rows: Iterator[InternalRow],
    ranges: PeriodRanges,
    isOfIslands: Boolean,
    replicated: SQLMetric)
    extends Iterator[AddressedRow] {
  private val addressed = new AddressedRow
  private var range = 0
  private var last = -1

  override def hasNext: Boolean = {
    while (range > last && rows.hasNext) advance()
    range <= last
  }

  override def next(): AddressedRow = {
    if (!hasNext) throw new NoSuchElementException
    addressed.partition = range
    range += 1
    addressed
  }

  private def advance(): Unit = {
    val row = rows.next()
    val (start, end) = (row.getLong(0), row.getLong(1))
    if (start < end) {
      range = ranges.of(start)
      last = ranges.of(end - 1)
      if (isOfIslands && ranges.of(end) > range) TemporalErrors.changedRows()
      if (last > range) replicated.add((last - range).toLong)
      addressed.row = row
    }
  }
}
