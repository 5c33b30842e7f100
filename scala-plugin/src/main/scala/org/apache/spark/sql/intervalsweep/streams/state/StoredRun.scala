// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.intervalsweep.condition.model.Side

/**
 * Rows of one side that are stored together.
 *
 * Each value of a run has a key: its slot plus a number.
 * {{{
 *   key    slot + 0  slot + 1  slot + 2  ...    slot + 29       slot + 30      slot + 31
 *   value  a chunk   a chunk   a chunk          the set Done    MatchCounts    Summary
 * }}}
 * The metadata of a run says which values it has.
 *
 * Two attempts at one micro-batch use the same slots for the same rows. Otherwise a query that is
 * killed could not restart: Spark may read a snapshot of the first attempt's state, and then the
 * changes that followed the second attempt.
 *
 * @param id       a random number, which no other run has
 * @param slot     the first key; its lowest five bits are 0. No other run of the partition has it
 * @param bytes    the size of the rows in memory
 * @param first    no live row expires before this time, in microseconds (or row number)
 * @param last     no live row expires after this time
 * @param minTime  the least event time of the rows, in microseconds, if the operator needs it
 * @param maxTime  the greatest event time
 * @param parts    the number of chunks in which the rows are stored
 * @param attached which [[Attachment]]s are stored: a set of bits
 */
final case class StoredRun(
    side: Side,
    id: Long,
    slot: Long,
    rows: Long,
    bytes: Long,
    first: Long,
    last: Long,
    minTime: Long = Long.MaxValue,
    maxTime: Long = Long.MinValue,
    parts: Int = 0,
    attached: Int = 0) {
  def has(attachment: Attachment): Boolean = (attached & attachment.bit) != 0

  /** The keys of the chunks, in the order in which they were added. */
  private[state] def chunkKeys: Seq[Long] = (0 until parts).map(slot + _)

  private[state] def key(attachment: Attachment): Long = slot + StoredRun.MostParts +
    attachment.number
}

object StoredRun {

  /** The number of chunks that a run may have. The keys behind them are for attachments. */
  private[state] val MostParts = 29

  /** The number of keys of a slot. */
  private[state] val Keys = 32

  /** A random id: two attempts at one micro-batch, and two queries, do not share it. */
  private[state] def newId(): Long = java.util.concurrent.ThreadLocalRandom.current().nextLong()
}

/** A value that is stored with the rows of a run. */
sealed abstract class Attachment(private[state] val number: Int) {
  private[state] def bit: Int = 1 << number
}

object Attachment {

  /** The set of rows that are done: matched, emitted as unmatched, or replaced by a later row. */
  case object Done extends Attachment(0)

  /** The number of matches of each row. */
  case object MatchCounts extends Attachment(1)

  /** The aggregates of the rows by key. */
  case object Summary extends Attachment(2)

  private[state] val all: Seq[Attachment] = Seq(Done, MatchCounts, Summary)
}
