// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import java.nio.ByteBuffer

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.state.{
  JoinSchemaEvolution, JoinStateIdentity, RowBuffer, RowFields, SortedRows
}
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig, ValueState}

/**
 * The state variables of a partition: its metadata, and for each sorted run its rows, the set of
 * its rows that are done (matched, or emitted as unmatched), and its match counts.
 *
 * @param isCounted whether rows have match counts
 */
final class JoinStateStore(handle: StatefulProcessorHandle, isCounted: Boolean) {
  private val heads: ValueState[Array[Byte]] =
    handle.getValueState[Array[Byte]]("head", Encoders.BINARY, TTLConfig.NONE)
  private val chunks: MapState[Long, Array[Byte]] = ofStoredRuns("rows")
  private val done: MapState[Long, Array[Byte]] = ofStoredRuns("done")
  private val counts: Option[MapState[Long, Array[Byte]]] =
    Option.when(isCounted)(ofStoredRuns("counts"))

  private def ofStoredRuns(name: String): MapState[Long, Array[Byte]] =
    handle.getMapState[Long, Array[Byte]](
      name,
      Encoders.scalaLong,
      Encoders.BINARY,
      TTLConfig.NONE)

  def head(spec: StreamJoinSpec): JoinStateMetadata =
    Option(heads.get()).fold(JoinStateMetadata.Empty) { bytes =>
      val (head, written) = JoinStateMetadata.read(bytes)
      spec.earlier.get(written.hash) match {
        case Some(before) => grown(head, before, spec)
        case None =>
          spec.fingerprint.check(written)
          head
      }
    }

  /** Rewrites the rows that were stored with fewer columns. */
  private def grown(
      head: JoinStateMetadata,
      before: Map[Side, JoinSchemaEvolution],
      spec: StreamJoinSpec): JoinStateMetadata = {
    val storedRuns = head.storedRuns.map { storedRun =>
      val side = storedRun.side
      val kept = RowBuffer.ofChunk(chunks.getValue(storedRun.id))
      val rows = before(side).grown(kept, spec.attributes(side))
      val next = storedRun.copy(id = SortedRun.newId(), bytes = rows.offset(rows.size))
      put(next, SortedRows.ofSorted(rows, spec.fields(side)))
      putDone(next, doneRows(storedRun))
      if (isCounted) putPartners(next, partners(storedRun))
      remove(storedRun)
      next
    }
    val wanted = head.copy(storedRuns = storedRuns)
    update(wanted, spec.fingerprint)
    wanted
  }

  def update(head: JoinStateMetadata, fingerprint: JoinStateIdentity): Unit =
    heads.update(JoinStateMetadata.toBytes(head, fingerprint))

  def rows(storedRun: SortedRun, fields: RowFields): SortedRows = RunCache.get(storedRun.id) {
    SortedRows.ofSorted(RowBuffer.ofChunk(chunks.getValue(storedRun.id)), fields)
  }

  def put(storedRun: SortedRun, rows: SortedRows): Unit = {
    chunks.updateValue(storedRun.id, rows.rows.toChunk)
    RunCache.put(storedRun.id, rows)
  }

  def doneRows(storedRun: SortedRun): java.util.BitSet =
    Option(done.getValue(storedRun.id)).fold(new java.util.BitSet)(java.util.BitSet.valueOf)

  def putDone(storedRun: SortedRun, rows: java.util.BitSet): Unit =
    if (!rows.isEmpty) done.updateValue(storedRun.id, rows.toByteArray)

  /** The match counts of the rows of a sorted run. */
  def partners(storedRun: SortedRun): Array[Long] =
    counts.flatMap(c => Option(c.getValue(storedRun.id))).fold(new Array[Long](storedRun.rows)) {
      bytes =>
        val found = new Array[Long](storedRun.rows)
        ByteBuffer.wrap(bytes).asLongBuffer().get(found)
        found
    }

  def putPartners(storedRun: SortedRun, partners: Array[Long]): Unit = counts.foreach { c =>
    val buffer = ByteBuffer.allocate(8 * partners.length)
    buffer.asLongBuffer().put(partners)
    c.updateValue(storedRun.id, buffer.array())
  }

  def remove(storedRun: SortedRun): Unit = {
    chunks.removeKey(storedRun.id)
    done.removeKey(storedRun.id)
    counts.foreach(_.removeKey(storedRun.id))
    RunCache.remove(storedRun.id)
  }

  def setTimer(old: Long, next: Long): Unit = {
    if (old != 0) handle.deleteTimer(old)
    handle.registerTimer(next)
  }
}
