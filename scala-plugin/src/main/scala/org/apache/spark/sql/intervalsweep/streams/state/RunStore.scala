// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}
import org.apache.spark.sql.types.DataType

/**
 * The rows of stored runs, in one map of the state. [[StoredRun]] names its keys. A chunk has packed
 * rows ([[RowPacker]]).
 */
final class RunStore(handle: StatefulProcessorHandle) {
  private val values: MapState[Long, Array[Byte]] =
    handle.getMapState("runs", Encoders.scalaLong, Encoders.BINARY, TTLConfig.NONE)

  private var nextSlot = 0L

  /** Takes the slots behind those of the runs of a partition for new runs. */
  private[state] def follow(runs: Seq[StoredRun]): Unit =
    nextSlot = (runs.map(_.slot + StoredRun.Keys) :+ 0L).max

  /**
   * A new run without rows.
   *
   * @param first no row expires before this time, in microseconds (or row number)
   * @param last  no row expires after this time
   */
  def create(side: Side, first: Long, last: Long): StoredRun = {
    val run = StoredRun(side, StoredRun.newId(), nextSlot, 0, 0, first, last)
    nextSlot += StoredRun.Keys
    run
  }

  /** The chunks of a run, in the order in which they were added. */
  def chunks(run: StoredRun): Seq[Array[Byte]] = run.chunkKeys.map { key =>
    Option(values.getValue(key)).getOrElse(StreamErrors.missingRows(run.rows))
  }

  /** Adds a chunk. The caller counts its rows. */
  def add(run: StoredRun, chunk: Array[Byte]): StoredRun = {
    values.updateValue(run.slot + run.parts, chunk)
    run.copy(parts = run.parts + 1)
  }

  /** Writes the rows of a run as one chunk. */
  def replace(run: StoredRun, chunk: Array[Byte]): StoredRun = {
    run.chunkKeys.drop(1).foreach(values.removeKey)
    add(run.copy(parts = 0), chunk)
  }

  def attachment(run: StoredRun, which: Attachment): Option[Array[Byte]] =
    Option.when(run.has(which))(values.getValue(run.key(which)))

  def attach(run: StoredRun, which: Attachment, bytes: Array[Byte]): StoredRun = {
    values.updateValue(run.key(which), bytes)
    run.copy(attached = run.attached | which.bit)
  }

  def detach(run: StoredRun, which: Attachment): StoredRun =
    if (!run.has(which)) run
    else {
      values.removeKey(run.key(which))
      run.copy(attached = run.attached & ~which.bit)
    }

  def remove(run: StoredRun): Unit = {
    run.chunkKeys.foreach(values.removeKey)
    Attachment.all.foreach(detach(run, _))
  }

  /** The same run with rows in the layout of a query that has more columns, under a new id. */
  private[state] def grown(
      run: StoredRun,
      before: SchemaEvolution,
      types: Seq[DataType]): StoredRun = {
    val project = before.projection(types)
    val packer = new RowPacker(types.size)
    for (chunk <- chunks(run); row <- RowUnpacker.unsafeRows(chunk, before.fields))
      packer.add(project(row))
    val bytes = packer.size
    val empty = create(run.side, run.first, run.last)
    val next =
      add(run.copy(id = empty.id, slot = empty.slot, bytes = bytes, parts = 0), packer.take())
    Attachment.all.foreach(a => attachment(run, a).foreach(attach(next, a, _)))
    remove(run)
    next
  }
}
