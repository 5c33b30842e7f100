// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.{PackedFormat, RowBatch}
import org.apache.spark.sql.intervalsweep.temporal.nodes.PeriodRule
import org.apache.spark.sql.types.{DoubleType, LongType}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * The output rows of a [[PeriodSweepExec]]'s task. Chunks go to the worker, and periods come back.
 *
 * @param limits the section of time that the task processes
 */
private[periods] final class PeriodSweepIterator(
    settings: PeriodSettings,
    rows: Iterator[InternalRow],
    limits: (Long, Long),
    context: TaskContext)
    extends Iterator[InternalRow] {
  private val input = InMemoryPeriods.orSorted(settings, rows, limits, context)
  private val names = Seq("e0", "e1") ++
    (0 until math.max(settings.numbers.size, if (settings.isCount) 1 else 0)).map(k => s"m$k")
  private val results = new PeriodResults(settings)
  private val counters = new PeriodCounters(settings.metrics)
  context.addTaskCompletionListener[Unit](_ => counters.publish())

  /** The worker. It is started for the first rows. */
  private var worker: PeriodWorker = _
  private var at = 0

  /** How often the current period must still be returned. */
  private var times = 0L
  private var isAnswering = false
  private var isOver = false

  /** The next of the rows that the worker does not see. */
  private var single = input.singles.start
  private lazy val copiesOfSingle = settings.copiesOfSingle.get
  private lazy val statesOfSingles = input.chunk.numbers.drop(2)
  private var ones = new Array[Long](0)
  private var ready: InternalRow = _

  override def hasNext: Boolean = {
    while (ready == null && !isOver) ready = advance()
    ready != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val row = ready
    ready = null
    counters.rows += 1
    row
  }

  /** The next row; null if there is none yet. */
  private def advance(): InternalRow =
    if (times > 0) {
      times -= 1
      results.repeated
    } else if (isAnswering && at < worker.periods.size) takePeriod()
    else if (isAnswering) {
      isAnswering = counters.inPython(worker)(worker.next())
      at = 0
      null
    } else if (input.advance()) {
      send()
      null
    } else if (single < input.singles.end) takeSingle()
    else {
      isOver = true
      results.last()
    }

  private def send(): Unit = {
    if (worker == null) worker = new PeriodWorker(settings.worker, settings.returned, context)
    val chunk = input.chunk
    val columns =
      if (!settings.isCount || settings.numbers.nonEmpty) chunk.numbers.toSeq
      else chunk.numbers.toSeq :+ weights(input.from + input.size)
    counters.inPython(worker)(
      worker.send(chunk.groups, names.zip(columns), input.from, input.size, input.goesOn))
    isAnswering = true
    at = 0
    // The previous answer is no longer valid.
    worker.periods.size = 0
  }

  private def weights(n: Int): Array[Long] = {
    if (ones.length < n) ones = Array.fill(n)(1L)
    ones
  }

  /** The result of a row that is the only one of its group; null if it has none. */
  private def takeSingle(): InternalRow = {
    val (row, chunk) = (single, input.chunk)
    single += 1
    val (start, end) = (chunk.numbers(0)(row), chunk.numbers(1)(row))
    val hasWeight = settings.isCount && settings.numbers.nonEmpty
    val copies = copiesOfSingle(if (hasWeight) statesOfSingles(0)(row) else 1L)
    if (start < end && copies > 0) {
      times = copies - 1
      results.of(chunk.keys(chunk.groups(row)), row, start, end, statesOfSingles)
    } else null
  }

  private def takePeriod(): InternalRow = {
    val periods = worker.periods
    // Row -1 stands for the group that continues from the previous portion, which is that of the
    // first row.
    val row = input.from + math.max(periods.row(at), 0)
    val key = input.chunk.keys(input.chunk.groups(row))
    // The worker does not know the limits, and periods in which nothing is valid may exceed them.
    val start = math.max(periods.start(at), limits._1)
    val end = math.min(periods.end(at), limits._2)
    val result = if (start < end) results.of(key, at, start, end, periods.values) else null
    times = if (settings.isCount) periods.values(0)(at) - 1 else 0
    at += 1
    result
  }
}

/** Result rows, made from keys and from the numbers that the worker returns with a period. */
private final class PeriodResults(settings: PeriodSettings) {
  private val states =
    if (settings.isCount) Nil else settings.measures.map(_.state)
  private val isMerged = settings.rule.isInstanceOf[PeriodRule.Values]

  /** Two take turns if rows are merged: the waiting row must not be overwritten. */
  private lazy val projections = {
    val ends = settings.output.takeRight(2)
    Array.fill(if (isMerged) 2 else 1) {
      UnsafeProjection.create(settings.results ++ ends, settings.keys ++ states ++ ends)
    }
  }

  /** Null if results must be projected. */
  private val keyRows =
    if (isMerged) null else KeyRows.of(settings.keys, settings.results).orNull
  private var turn = 0
  private val numbers =
    new SpecificInternalRow(states.map(_.dataType) ++ Seq(LongType, LongType))
  private val areFractions = states.map(_.dataType == DoubleType).toArray
  private val joined = new JoinedRow
  private val startAt = settings.results.size
  private val endAt = startAt + 1

  /** The words of a row that have its period. */
  private val startWord = PackedFormat.words(endAt + 1) - 2
  private val endWord = startWord + 2
  private var row: UnsafeRow = _

  /** The row that the next period may continue. */
  private var waiting: UnsafeRow = _

  /** The row of the last period. */
  def repeated: InternalRow = row

  /**
   * The row of a period. If rows are merged, this is the previous row, once the period does not
   * continue it; null if there is none.
   *
   * @param at the index of the period's numbers in `values`
   */
  def of(
      key: UnsafeRow,
      at: Int,
      start: Long,
      end: Long,
      values: Array[Array[Long]]): InternalRow = {
    row =
      if (keyRows != null) keyRows.of(key, start, end)
      else projected(key, at, start, end, values)
    if (isMerged) merged(start, end) else row
  }

  private def projected(
      key: UnsafeRow,
      at: Int,
      start: Long,
      end: Long,
      values: Array[Array[Long]]): UnsafeRow = {
    var k = 0
    while (k < areFractions.length) {
      val bits = values(k)(at)
      if (areFractions(k)) numbers.setDouble(k, java.lang.Double.longBitsToDouble(bits))
      else numbers.setLong(k, bits)
      k += 1
    }
    numbers.setLong(k, start)
    numbers.setLong(k + 1, end)
    projections(turn)(joined(key, numbers))
  }

  /** The waiting row. Call it after the last period. */
  def last(): InternalRow = {
    val row = waiting
    waiting = null
    row
  }

  /**
   * Merges a period into the waiting row, if it continues that row with the same results. Otherwise
   * the period waits, and the row that waited is returned.
   */
  private def merged(start: Long, end: Long): InternalRow =
    if (waiting != null && waiting.getLong(endAt) == start && isSame()) {
      waiting.setLong(endAt, end)
      null
    } else {
      val before = waiting
      waiting = row
      turn = 1 - turn
      before
    }

  /** True if the rows are equal except for their periods. */
  private def isSame(): Boolean =
    row.getSizeInBytes == waiting.getSizeInBytes && areEqual(0, startWord) &&
      areEqual(endWord, row.getSizeInBytes / 8)

  private def areEqual(fromWord: Int, toWord: Int): Boolean = ByteArrayMethods.arrayEquals(
    row.getBaseObject,
    row.getBaseOffset + 8L * fromWord,
    waiting.getBaseObject,
    waiting.getBaseOffset + 8L * fromWord,
    8L * (toWord - fromWord))
}

/**
 * Rows of a key and a period, for keys whose fields are 64-bit words. The object is reused.
 *
 * @param numKeys the number of fields of a key
 */
private final class KeyRows(numKeys: Int) {
  private val keyWords = PackedFormat.words(numKeys)
  private val words = new Array[Long](keyWords + 2)
  private val row = new UnsafeRow(numKeys + 2)
  row.pointTo(words, Platform.LONG_ARRAY_OFFSET.toLong, 8 * words.length)

  def of(key: UnsafeRow, start: Long, end: Long): UnsafeRow = {
    val (base, offset) = (key.getBaseObject, key.getBaseOffset)
    var i = 0
    while (i < keyWords) { words(i) = Platform.getLong(base, offset + 8L * i); i += 1 }
    words(i) = start
    words(i + 1) = end
    row
  }
}

private object KeyRows {

  /** None if the results are not the keys, or if their rows begin with more NULL flags. */
  def of(keys: Seq[Attribute], results: Seq[Expression]): Option[KeyRows] = {
    val areKeys = results.size == keys.size &&
      results.lazyZip(keys).forall(_.semanticEquals(_)) &&
      keys.forall(key => RowBatch.isWord(key.dataType))
    Option.when(
      areKeys && PackedFormat.words(keys.size + 2) == PackedFormat.words(keys.size) + 2)(
      new KeyRows(keys.size))
  }
}

/** The counters of a task, which are added to the node's metrics when the task ends. */
private final class PeriodCounters(metrics: Map[String, SQLMetric]) {
  var rows = 0L
  private var nanos = 0L
  private var worker: PeriodWorker = _

  def inPython[T](asked: PeriodWorker)(body: => T): T = {
    worker = asked
    val started = System.nanoTime()
    try body
    finally nanos += System.nanoTime() - started
  }

  def publish(): Unit = {
    metrics(SweepMetrics.OutputRows).add(rows)
    metrics(SweepMetrics.PythonTime).add(nanos)
    if (worker != null) {
      metrics(SweepMetrics.BytesSent).add(worker.bytesSent)
      metrics(SweepMetrics.BytesReceived).add(worker.bytesReceived)
      metrics(SweepMetrics.WaitTime).add(worker.nanosWaited)
      metrics(SweepMetrics.KernelTime).add(worker.kernelNanos)
    }
  }
}
