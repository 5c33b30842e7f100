// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.state.{RowBuffer, RowFields, SortedRows}

/**
 * Parts that an executor has read or written, as long as there is memory for them: rows are read once
 * and not in each batch. A storedRun never changes, so that it cannot be out of date.
 */
private object RunCache {
  private val Most = 4096
  private val storedRuns =
    new java.util.LinkedHashMap[Long, java.lang.ref.SoftReference[SortedRows]](
      16,
      0.75f,
      true) {
      override def removeEldestEntry(
          eldest: java.util.Map.Entry[Long, java.lang.ref.SoftReference[SortedRows]]): Boolean =
        size > Most
    }

  def get(id: Long)(read: => SortedRows): SortedRows = {
    val known = storedRuns.synchronized(Option(storedRuns.get(id))).flatMap(r => Option(r.get))
    known.getOrElse {
      val rows = read
      put(id, rows)
      rows
    }
  }

  def put(id: Long, rows: SortedRows): Unit =
    storedRuns.synchronized { storedRuns.put(id, new java.lang.ref.SoftReference(rows)); () }

  def remove(id: Long): Unit = storedRuns.synchronized { storedRuns.remove(id); () }
}

/** Which storedRuns of a side are to be put together, so that there are few. */
object RunCompaction {

  /** So many of about one size become one. */
  private val Together = 4

  /** Larger ones are left as they are. */
  val LargestBytes: Int = 64 << 20

  def of(storedRuns: Seq[SortedRun]): Seq[SortedRun] = {
    val small = storedRuns.filter(_.bytes < LargestBytes / Together)
    val levels = small.groupBy(p => (31 - Integer.numberOfLeadingZeros(p.rows | 1)) / 2)
    levels.toSeq.sortBy(_._1).map(_._2).find(_.size >= Together).getOrElse(Nil)
  }

  /** The kept rows of sorted blocks as one, and where each was among those of one after the other. */
  def merge(
      blocks: Seq[(SortedRows, Int => Boolean)],
      fields: RowFields): (SortedRows, Int => Int) = blocks match {
    case Seq((rows, isKept)) if (0 until rows.size).forall(isKept) => (rows, identity)
    case _ => SortedRows.sorted(together(blocks), fields)
  }

  private def together(blocks: Seq[(SortedRows, Int => Boolean)]): RowBuffer = {
    val all = RowBuffer.like(blocks.map(_._1.rows))
    blocks.foreach { case (rows, isKept) =>
      var i = 0
      while (i < rows.size) {
        if (isKept(i)) all.add(rows.rows.data, rows.rows.offset(i), rows.rows.length(i))
        i += 1
      }
    }
    all
  }

  def storedRun(side: Side, rows: SortedRows): SortedRun = SortedRun(
    side,
    SortedRun.newId(),
    rows.size,
    rows.rows.offset(rows.size),
    rows.expiries.min,
    rows.expiries.max)

  /** Row numbers, gathered. */
  def numbers(size: Int, isTaken: Int => Boolean): Array[Int] = {
    val taken = new ArrayBuffer[Int]
    var i = 0
    while (i < size) { if (isTaken(i)) taken += i; i += 1 }
    taken.toArray
  }
}
