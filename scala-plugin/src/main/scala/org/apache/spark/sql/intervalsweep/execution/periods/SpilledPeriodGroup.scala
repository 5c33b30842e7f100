// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.intervalsweep.execution.metrics.{SortTimer, SweepMetrics}
import org.apache.spark.sql.intervalsweep.execution.packing.RowSorter
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * A group that is too large for a chunk. Spark sorts its numbers by start, and spills them. The
 * worker keeps the rows that are still valid from one chunk to the next.
 *
 * @param numbers the numbers of its rows, which the constructor reads to the end
 */
private[periods] final class SpilledPeriodGroup(
    settings: PeriodSettings,
    key: UnsafeRow,
    numbers: Iterator[Array[Long]]) {
  private val width = 2 + settings.numbers.size

  private val sorted: Iterator[InternalRow] = {
    val schema = (0 until width).foldLeft(new StructType)((s, k) => s.add(s"n$k", LongType))
    val order = SortOrder(BoundReference(0, LongType, nullable = false), Ascending)
    val sorter = RowSorter(schema, order, settings.metrics)
    val writer = new UnsafeRowWriter(width)
    val unsafe = numbers.map { row =>
      writer.reset()
      writer.zeroOutNullBytes()
      var k = 0
      while (k < width) { writer.write(k, row(k)); k += 1 }
      writer.getRow
    }
    new SortTimer(settings.metrics(SweepMetrics.SortTime)).time(sorter.sort(unsafe))
  }

  /** Fills the chunk with the next rows of the group. Returns true if there are more rows. */
  def fill(chunk: PeriodChunk): Boolean = {
    chunk.clear()
    chunk.keys.add(key)
    while (chunk.size < settings.chunkRows && sorted.hasNext && chunk.hasRoom()) {
      val row = sorted.next()
      chunk.add(0, row.getLong(_))
    }
    sorted.hasNext
  }
}

private[periods] object SpilledPeriodGroup {

  /**
   * The groups whose keys have the hash of the chunk's rows, one for each key. The chunk has the
   * first of their rows.
   */
  def of(
      settings: PeriodSettings,
      chunk: PeriodChunk,
      rows: HashedRows): Seq[SpilledPeriodGroup] = {
    val runHash = rows.hash
    // Two keys with the same hash are so rare that the memory for their rows does not matter.
    val others = new ArrayBuffer[(UnsafeRow, Array[Long])]
    val key = chunk.keys(0).copy()
    val width = 2 + settings.numbers.size
    val kept =
      Iterator.range(0, chunk.size).map(i => (chunk.keys(chunk.groups(i)), chunk.row(i)))
    val read = new Iterator[(UnsafeRow, Array[Long])] {
      override def hasNext: Boolean = rows.hasNext && rows.hash == runHash
      override def next(): (UnsafeRow, Array[Long]) = {
        val own = rows.keys
        rows.take()
        (own, Array.tabulate(width)(rows.number))
      }
    }
    val own = (kept ++ read).flatMap { case (k, numbers) =>
      if (k == key) Some(numbers)
      else {
        others += ((k.copy(), numbers))
        None
      }
    }
    val first = new SpilledPeriodGroup(settings, key, own)
    first +: others.toSeq.groupMap(_._1)(_._2).toSeq.map { case (k, numbers) =>
      new SpilledPeriodGroup(settings, k, numbers.iterator)
    }
  }
}
