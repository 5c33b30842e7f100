// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.intervalsweep.condition.expiry.Unbounded
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.functions.Relation

/** What can be wrong with a join of streams: a closed list, with the names of [[StreamErrors]]. */
object StreamJoinErrors {
  import StreamErrors.{fail, inRealTime}

  def noWatermark(side: Side): Nothing = fail(
    "NO_WATERMARK",
    s"The $side side of a join of streams has no watermark, so that it is never known which rows " +
      "have come: call withWatermark(column, delay) on it, or compare dense row numbers, as in " +
      "abs(a.seq - b.seq) < 1000.")

  def unbounded(missing: Unbounded): Nothing = fail(
    "UNBOUNDED_STATE",
    s"Rows of the ${missing.side} side of a join of streams would be kept for ever, as nothing " +
      s"bounds how late `${missing.clock.name}` of a partner may be: ${missing.advice}.")

  /** @param bounded the relation that can say how much later a partner starts */
  def unboundedOpen(side: Side, found: Relation, bounded: Option[Relation]): Nothing = {
    val cure = bounded match {
      case Some(`found`) => s"give ${found.functionName} a ${Relation.Delta}"
      case Some(other) =>
        s"join by ${other.functionName} with a ${Relation.Delta}, which takes pairs without a gap, too"
      case None => "join by a relation whose intervals meet"
    }
    fail(
      "UNBOUNDED_STATE",
      s"Intervals of the $side side that have ended would be kept for ever, as " +
        s"${found.functionName} does not bound how much later a partner starts: $cure.")
  }

  def unsupported(what: String, cure: String): Nothing =
    fail("UNSUPPORTED", s"$what cannot be joined as streams: $cure.")

  def spreadInRealTime(): Nothing = inRealTime(
    "An inner join of streams without keys goes to all state partitions, in an order that " +
      "real-time mode does not fix: add an equality key, or SET spark.sql.shuffle.partitions=1 " +
      "before the query starts for the first time")

  def tableInRealTime(): Nothing = inRealTime(
    "A join of a stream with a table is done row by row in real-time mode, with a table that is " +
      "broadcast, and this one is too large: say /*+ BROADCAST(...) */ of it, or raise " +
      "spark.sql.autoBroadcastJoinThreshold")
}
