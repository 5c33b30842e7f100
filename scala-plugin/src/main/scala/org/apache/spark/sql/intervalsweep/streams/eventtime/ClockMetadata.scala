// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/** The metadata of columns with the event time or the number of a stream's rows. */
object ClockMetadata {

  /** By how many microseconds a column may be behind the watermark. */
  val EventTimeLag = "intervalsweep.eventTimeLag"

  /** By how much the row numbers of a column may be behind the largest one. */
  val Disorder = "intervalsweep.disorder"

  /** The same for a column that a join of streams returns: the disorder that the join adds. */
  val PairDisorder = "intervalsweep.pairDisorder"

  /**
   * The same for the end of an interval whose start has the event time. Only joins of streams use
   * it, and only if no other column limits their state.
   */
  val EndLag = "intervalsweep.endLag"

  /** Marks the time column that `inequality_join` uses for a window of time. */
  val Window = "intervalsweep.window"

  /** Whether a condition comes from Python's `inequality_join`, which marks its columns. */
  def areMarked(condition: Expression): Boolean =
    condition.references.exists { column =>
      column.metadata.contains(Disorder) || column.metadata.contains(Window)
    }

  /** By how much a column may be behind the watermark. None if it does not follow a watermark. */
  def eventTimeLag(column: Attribute): Option[Long] =
    if (column.metadata.contains(EventTimeLag)) Some(column.metadata.getLong(EventTimeLag))
    else Option.when(column.metadata.contains(EventTimeWatermark.delayKey))(0L)

  /** The lag of a clock: of an event-time column, or else of the end of an interval. */
  private[eventtime] def clockLag(column: Attribute): Option[Long] =
    eventTimeLag(column).orElse(
      Option.when(column.metadata.contains(EndLag))(column.metadata.getLong(EndLag)))

  /** By how much row numbers may be behind the largest one. None for undeclared columns. */
  def disorder(column: Attribute): Option[Long] =
    Seq(Disorder, PairDisorder).filter(column.metadata.contains).map(column.metadata.getLong)
      .reduceOption(_ + _)

  /** The metadata of a column that has no event time any more. */
  private[streams] def withoutClocks(metadata: Metadata): Metadata = cleared(metadata).build()

  /** The metadata without anything that this object or a watermark adds. */
  private[eventtime] def cleared(metadata: Metadata): MetadataBuilder =
    Seq(EventTimeWatermark.delayKey, EventTimeLag, EndLag, Window, Disorder, PairDisorder)
      .foldLeft(new MetadataBuilder().withMetadata(metadata))(_.remove(_))

  /** Adds a watermark, or the lag behind the watermark if there is one. */
  private[eventtime] def putLag(plain: MetadataBuilder, lag: Long): MetadataBuilder =
    if (lag == 0) plain.putLong(EventTimeWatermark.delayKey, 0L)
    else plain.putLong(EventTimeLag, lag)
}
