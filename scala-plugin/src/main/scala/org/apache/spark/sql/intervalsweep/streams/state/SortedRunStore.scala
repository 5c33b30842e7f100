// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.nio.ByteBuffer
import java.util.BitSet

import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * Stored runs whose rows are sorted by key and endpoint and never change. An operator notes
 * in an [[Attachment]] which rows are done, or how many matches they have.
 */
final class SortedRunStore(runs: RunStore, fields: Map[Side, RowFields]) {

  def rows(run: StoredRun): SortedRows = RunCache.get(run.id) {
    val own = fields(run.side)
    SortedRows.ofSorted(RowBuffer.ofChunks(runs.chunks(run), own), own)
  }

  /** Writes rows as a new run. */
  def write(side: Side, rows: SortedRows): StoredRun = {
    val run = runs.create(side, first = rows.expiries.min, last = rows.expiries.max)
      .copy(rows = rows.size.toLong, bytes = rows.rows.offset(rows.size).toLong)
    RunCache.put(run.id, rows)
    runs.add(run, rows.rows.toChunk(fields(side)))
  }

  def remove(run: StoredRun): Unit = {
    runs.remove(run)
    RunCache.remove(run.id)
  }

  def done(run: StoredRun): BitSet =
    runs.attachment(run, Attachment.Done).fold(new BitSet)(BitSet.valueOf)

  def putDone(run: StoredRun, rows: BitSet): StoredRun =
    if (rows.isEmpty) run else runs.attach(run, Attachment.Done, rows.toByteArray)

  def matchCounts(run: StoredRun): Array[Long] = {
    val counts = new Array[Long](run.rows.toInt)
    runs.attachment(run, Attachment.MatchCounts)
      .foreach(bytes => ByteBuffer.wrap(bytes).asLongBuffer().get(counts))
    counts
  }

  def putMatchCounts(run: StoredRun, counts: Array[Long]): StoredRun = {
    val buffer = ByteBuffer.allocate(8 * counts.length)
    buffer.asLongBuffer().put(counts)
    runs.attach(run, Attachment.MatchCounts, buffer.array())
  }
}

/**
 * A cache of the sorted runs that an executor has read or written, as long as there is memory. So
 * a run is not read again in each micro-batch. A run never changes, so it is never outdated.
 */
private object RunCache {
  private type Entry = java.lang.ref.SoftReference[SortedRows]
  private val Most = 4096
  private val runs = new java.util.LinkedHashMap[Long, Entry](16, 0.75f, true) {
    override def removeEldestEntry(eldest: java.util.Map.Entry[Long, Entry]): Boolean = size > Most
  }

  def get(id: Long)(read: => SortedRows): SortedRows = {
    val known = runs.synchronized(Option(runs.get(id))).flatMap(r => Option(r.get))
    known.getOrElse {
      val rows = read
      put(id, rows)
      rows
    }
  }

  def put(id: Long, rows: SortedRows): Unit =
    runs.synchronized { runs.put(id, new Entry(rows)); () }

  def remove(id: Long): Unit = runs.synchronized { runs.remove(id); () }
}
