// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.streaming.{StatefulProcessorHandle, TTLConfig, ValueState}
import org.apache.spark.sql.types.DataType

/**
 * The layout of a state.
 *
 * @param types    the types of the fields of each side's rows
 * @param identity the properties of the query that the state depends on. A checkpoint of another
 *                 query is refused
 * @param earlier  the row layouts of queries with fewer columns, by the digest of their identity.
 *                 Their state is rewritten
 */
final case class StateLayout(
    types: Map[Side, Seq[DataType]],
    identity: StateIdentity,
    earlier: Map[String, Map[Side, SchemaEvolution]])

/**
 * The state of the partition that Spark has selected. A task has one for all its partitions.
 *
 * @param partitions the number of state partitions. Rows are stored under the number of their
 *                   partition, so a state of another number of partitions is refused
 */
final class PartitionState(handle: StatefulProcessorHandle, partitions: Int) {
  private val metadata: ValueState[Array[Byte]] =
    handle.getValueState("metadata", Encoders.BINARY, TTLConfig.NONE)
  val runs = new RunStore(handle)

  /**
   * Reads the metadata; fails if another query wrote the state.
   *
   * @param values the values of the operator in a partition without a state
   */
  def open(layout: StateLayout, values: Seq[Long]): StateMetadata = {
    val stored = if (metadata.exists()) Some(StateMetadata.read(metadata.get())) else None
    runs.follow(stored.toSeq.flatMap(_.runs))
    stored.fold(StateMetadata(layout.identity, partitions, None, values, Nil)) { found =>
      if (found.partitions != partitions)
        StreamErrors.repartitioned(found.partitions, partitions)
      if (found.identity == layout.identity) found else grown(found, layout)
    }
  }

  private def grown(found: StateMetadata, layout: StateLayout): StateMetadata = {
    val before = layout.earlier.get(found.identity.digest)
    if (before.isEmpty) layout.identity.check(found.identity)
    val wanted = found.copy(
      identity = layout.identity,
      runs = found.runs.map { run =>
        before.flatMap(_.get(run.side))
          .fold(run)(runs.grown(run, _, layout.types(run.side)))
      })
    save(wanted)
    wanted
  }

  def save(wanted: StateMetadata): Unit = metadata.update(wanted.toBytes)

  /** Moves the timer from the watermark of the stored metadata; see [[WatermarkTimer]]. */
  def moveTimer(before: StateMetadata, now: Long, fired: Option[Long]): Unit =
    WatermarkTimer.advance(handle, before.watermark, now, fired)
}
