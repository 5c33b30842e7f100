// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.block.{BlockMemory, TaskMemory}
import org.apache.spark.sql.intervalsweep.execution.packing.{BatchedRows, CopiedBatches, RowBatch}
import org.apache.spark.sql.types.DataType

/**
 * Adds up how sums change at each instant, by key:
 * {{{
 *   rows      x [1, 5) 2    x [3, 5) 4    x [1, 3) 1
 *   changes   x at 1: +3    x at 3: +3    x at 5: -6     the number of valid rows changes, too
 *   sums      x [1, 3) 3    x [3, 5) 6                   rows with the same sums at each instant
 * }}}
 * Few instants, such as days, make few changes from many rows.
 *
 * @param chunk the changes: an instant, the change of the number of valid rows, and those of the
 *   sums
 */
private[periods] final class SumChanges(chunk: PeriodChunk, memory: BlockMemory) {
  private val keys = new KeyNumbers(chunk.keys, memory)

  /** One more than the position of a change, at a place that its key and instant determine. */
  private var places = new Array[Int](0)

  def size: Int = chunk.size

  /** Makes room for the changes of one more row; false if memory for them is refused. */
  def hasRoom(): Boolean = keys.hasRoom() && chunk.hasRoom(2) &&
    (places.length >= 2 * chunk.capacity || growPlaces())

  /**
   * Adds a row, for whose changes there is room.
   *
   * @param numbers its start, its end, and its values
   */
  def add(key: UnsafeRow, numbers: Array[Long]): Unit =
    if (numbers(0) < numbers(1)) {
      val group = keys.of(key)
      change(positionOf(group, numbers(0)), 1, numbers)
      change(positionOf(group, numbers(1)), -1, numbers)
    }

  private def change(at: Int, sign: Int, numbers: Array[Long]): Unit = {
    chunk.numbers(1)(at) += sign
    var k = 2
    while (k < numbers.length) { chunk.numbers(k)(at) += sign * numbers(k); k += 1 }
  }

  private def positionOf(group: Int, instant: Long): Int = {
    val place = placeOf(group, instant)
    if (places(place) == 0) {
      chunk.add(group, k => if (k == 0) instant else 0L)
      places(place) = chunk.size
    }
    places(place) - 1
  }

  /** The place of a change, which is empty if the change is not there. */
  private def placeOf(group: Int, instant: Long): Int = {
    val mask = places.length - 1
    var place = SumChanges.hash(group, instant) & mask
    while (places(place) != 0 && !isOf(places(place) - 1, group, instant))
      place = (place + 1) & mask
    place
  }

  private def isOf(at: Int, group: Int, instant: Long): Boolean =
    chunk.numbers(0)(at) == instant && chunk.groups(at) == group

  /** Makes places for as many changes as there is room for; false if memory is refused. */
  private def growPlaces(): Boolean = {
    val wanted = Integer.highestOneBit(math.max(2 * chunk.capacity - 1, 1)) << 1
    val isGranted = memory.tryReserve(4L * (wanted - places.length))
    if (isGranted) {
      places = new Array[Int](wanted)
      var i = 0
      while (i < chunk.size) {
        places(placeOf(chunk.groups(i), chunk.numbers(0)(i))) = i + 1
        i += 1
      }
    }
    isGranted
  }

  /**
   * Returns rows with the same sums at each instant: the key, and the start, the end and the sums.
   * Both may be reused for every row.
   */
  def periods: Iterator[(UnsafeRow, Array[Long])] = {
    chunk.sort(chunk.size)
    val row = new Array[Long](chunk.numbers.length)
    var valid = 0L
    Iterator.range(0, chunk.size).filter { i =>
      valid += chunk.numbers(1)(i)
      var k = 2
      while (k < row.length) { row(k) += chunk.numbers(k)(i); k += 1 }
      valid > 0
    }.map { i =>
      // Valid rows end later, so there is a later change of the same key.
      row(0) = chunk.numbers(0)(i)
      row(1) = chunk.numbers(0)(i + 1)
      (chunk.keys(chunk.groups(i)), row)
    }
  }
}

private object SumChanges {

  /** Mixes the bits of both numbers, so that near instants have places that are far apart. */
  private def hash(group: Int, instant: Long): Int = {
    val mixed = (instant + group * 0x9e3779b97f4a7c15L) * 0xff51afd7ed558ccdL
    (mixed ^ (mixed >>> 32)).toInt
  }
}

/**
 * Adds up the rows of a task, as long as that makes them fewer. Other rows go past.
 *
 * @param isForced true if all rows are added up, even if that does not make them fewer
 */
final class PartialSums private[periods] (
    columns: PeriodColumns,
    batchRows: Int,
    isForced: Boolean,
    memory: BlockMemory) {
  private val changes = {
    val most = PeriodSettings.GatheredBatches * batchRows
    new SumChanges(new PeriodChunk(columns.all.size, most, memory, isNeeded = false), memory)
  }

  /** The rows that were added, and how many there will be when [[pays]] is asked next. */
  private var added = 0L
  private var nextLook = math.min(batchRows, PartialSums.FirstRows).toLong
  private var before = 0

  /** True if the next row, and all after it, go past. */
  var isPast: Boolean = !changes.hasRoom()

  /** The numbers of the row that is added next: its start, its end, and its values. */
  val numbers = new Array[Long](columns.all.size)

  /** Adds the row of this key and of [[numbers]]. */
  def add(key: UnsafeRow): Unit = {
    changes.add(key, numbers)
    added += 1
    isPast = !changes.hasRoom() || added == nextLook && !pays()
  }

  /**
   * True if it pays to add up the next rows. The first rows say whether keys and instants occur
   * again at all. Later rows must make fewer changes than they are.
   */
  private def pays(): Boolean = {
    val isFirst = before == 0
    val made = changes.size - before
    val are = if (isFirst) PartialSums.MostNew * 2 * added else batchRows.toDouble
    before = changes.size
    nextLook += batchRows
    made <= are || isForced
  }

  /** Rows with the same sums at each instant as those that were added. Can be called once. */
  def finish(): Iterator[InternalRow] = {
    isPast = true
    val narrow = new NarrowRows(columns)
    changes.periods.map { case (key, row) => narrow.of(key, row(_)) }
  }
}

private object PartialSums {
  private val FirstRows = 1 << 13

  /** The most of the starts and ends of the first rows that are new. */
  private val MostNew = 0.98
}

/**
 * The partial sums of rows that come in batches. Once rows go past, whole batches do.
 *
 * @param fields where the keys and the numbers are in a row
 * @param types the types of these fields
 */
private[periods] final class BatchedSums(
    batches: BatchedRows,
    sums: PartialSums,
    columns: PeriodColumns,
    fields: Array[Int],
    types: Array[DataType],
    counter: SQLMetric)
    extends BatchedRows(types) {
  private val keysOf = UnsafeProjection.create(columns.keys, columns.input)
  private val numbers = fields.takeRight(sums.numbers.length)
  private lazy val added =
    new CopiedBatches(sums.finish().map(_.asInstanceOf[UnsafeRow]), types)

  override protected def nextBatch(): RowBatch = {
    while (!sums.isPast && batches.batch != null) add(batches.batch)
    val (batch, first) = (batches.batch, batches.position)
    val next =
      if (batch != null) {
        batches.skip(batch.numRows - first)
        batch.narrow(fields, first)
      } else takeAdded()
    if (next != null) counter.add(next.numRows)
    next
  }

  private def takeAdded(): RowBatch = {
    val batch = added.batch
    if (batch != null) added.skip(batch.numRows)
    batch
  }

  /** Adds rows of a batch, until rows go past. */
  private def add(batch: RowBatch): Unit =
    while (!sums.isPast && batches.position < batch.numRows) {
      val at = batches.position
      var k = 0
      while (k < numbers.length) { sums.numbers(k) = batch.words(numbers(k))(at); k += 1 }
      sums.add(keysOf(batches.next()))
    }
}

private[periods] object BatchedSums {

  /** None if the rows do not come in batches, or a number would have to be computed. */
  def of(
      rows: Iterator[InternalRow],
      sums: PartialSums,
      columns: PeriodColumns,
      counter: SQLMetric): Option[BatchedSums] = {
    val wanted = columns.keys ++ columns.all
    rows match {
      case batches: BatchedRows => columns.ordinals(wanted).map { fields =>
          val types = wanted.map(_.dataType).toArray
          new BatchedSums(batches, sums, columns, fields, types, counter)
        }
      case _ => None
    }
  }
}

/** How the tasks of a [[PartialSumsExec]] add up rows. */
final class PartialSumsPlan private[periods] (
    private[periods] val columns: PeriodColumns,
    batchRows: Int,
    isForced: Boolean,
    peakMemory: SQLMetric)
    extends Serializable {

  def open(): PartialSums =
    new PartialSums(
      columns,
      batchRows,
      isForced,
      TaskMemory.of(TaskContext.get(), Some(peakMemory)))
}
