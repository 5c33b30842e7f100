// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

/** The `number`-th stretch of time of 2^`level` times the length of a bucket. */
private[streams] case class TimeBucketId(number: Long, level: Int)

private[streams] object TimeBucketId {
  implicit val order: Ordering[TimeBucketId] = Ordering.by(id => (id.number << id.level, id.level))
}

/** The rows of one side that expire within one stretch of time, and the times that they cover. */
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

  /** The part number under which a summary is stored; rows never have it. */
  val SummaryPart = 31
}
