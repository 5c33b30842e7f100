// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

/** Identifies a time bucket: the `number`-th stretch of 2^`level` bucket widths. */
private[streams] case class TimeBucketId(number: Long, level: Int)

private[streams] object TimeBucketId {
  implicit val order: Ordering[TimeBucketId] = Ordering.by(id => (id.number << id.level, id.level))
}

/** The rows of one side that expire in one stretch of time, and the range of their event times. */
final class TimeBucket(val side: Int, private[streams] val id: TimeBucketId) {
  import TimeBucket._

  private[streams] var parts = 0
  private[streams] var rows = 0L
  private[streams] var hasSummary = false
  var minTime: Long = Long.MaxValue
  var maxTime: Long = Long.MinValue

  private[streams] def add(writer: TimeBucketWriter): Unit = {
    rows += writer.packer.numRows
    minTime = math.min(minTime, writer.minTime)
    maxTime = math.max(maxTime, writer.maxTime)
  }

  private[streams] def key(part: Int): Long =
    ((id.number << LevelBits | id.level) << SideBits | side) <<
      PartBits | part

  private[streams] def summaryKey: Long = key(SummaryPart)
}

private object TimeBucket {
  val PartBits = 5
  val SideBits = 2
  val LevelBits = 5

  /** The part number of the stored summary; no part with rows has it. */
  val SummaryPart = 31
}
