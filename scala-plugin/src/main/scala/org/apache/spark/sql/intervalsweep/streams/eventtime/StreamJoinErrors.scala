// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.intervalsweep.condition.expiry.Unbounded
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.functions.Relation

/** The errors of joins of streams: a closed list, with the error names of [[StreamErrors]]. */
object StreamJoinErrors {
  import StreamErrors.{fail, inRealTime}

  def noWatermark(side: Side): Nothing = fail(
    "NO_WATERMARK",
    s"The $side side of a join of streams has no watermark, so nothing limits how late its rows " +
      "may arrive: call withWatermark(column, delay) on it, or compare dense row numbers, such " +
      "as abs(a.seq - b.seq) < 1000.")

  def unbounded(missing: Unbounded): Nothing = fail(
    "UNBOUNDED_STATE",
    s"Rows of the ${missing.side} side of a join of streams could never be evicted, because " +
      s"nothing limits how late `${missing.clock.name}` of a match may be: ${missing.advice}.")

  /** @param bounded a relation with a parameter that limits how much later a match starts */
  def unboundedOpen(side: Side, found: Relation, bounded: Option[Relation]): Nothing = {
    val cure = bounded match {
      case Some(`found`) => s"give ${found.functionName} a ${Relation.Delta}"
      case Some(other) =>
        s"join by ${other.functionName} with a ${Relation.Delta}, which also matches pairs " +
          "without a gap"
      case None => "join by a relation that matches only intervals that touch or overlap"
    }
    fail(
      "UNBOUNDED_STATE",
      s"Intervals of the $side side that have ended could never be evicted, because " +
        s"${found.functionName} does not limit how much later a match starts: $cure.")
  }

  def unsupported(what: String, cure: String): Nothing =
    fail("UNSUPPORTED", s"$what cannot be joined as streams: $cure.")

  def spreadInRealTime(): Nothing = inRealTime(
    "An inner join of streams without keys sends its rows to all state partitions, and real-time " +
      "mode does not fix their order: add an equality key, or SET spark.sql.shuffle.partitions=1 " +
      "before the query starts for the first time")

  def tableInRealTime(): Nothing = inRealTime(
    "A join of a stream with a table needs a broadcast of the table in real-time mode, and this " +
      "table is too large: add the hint /*+ BROADCAST(...) */, or raise " +
      "spark.sql.autoBroadcastJoinThreshold")
}
