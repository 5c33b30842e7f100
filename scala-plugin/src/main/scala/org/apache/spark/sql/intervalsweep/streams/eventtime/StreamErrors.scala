// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.intervalsweep.QueryError

/** What can be wrong with a query of streams: a closed list. */
object StreamErrors {

  /** The text of an error, also of one that is raised while a stream runs. */
  private[streams] def text(name: String, message: String): String =
    s"[INTERVALSWEEP_STREAM.$name] $message"

  def noWatermark(side: String, columns: Seq[String]): Nothing = fail(
    "NO_WATERMARK",
    s"The $side has no watermark, so that no window would ever be final: say " +
      s"withWatermark('${columns.headOption.getOrElse("ts")}', '10 seconds'), or however late " +
      "its rows may be, on the stream. A window of row numbers, as in abs(a.seq - b.seq) < 1000, " +
      "needs none, and takes count(*) alone.")

  def unboundedState(missing: String, base: String, probe: String): Nothing = fail(
    "UNBOUNDED_STATE",
    s"The window over $probe has no $missing end that is a constant away from $base, so that " +
      s"rows would have to be kept for ever: say $probe BETWEEN $base - INTERVAL ... AND " +
      s"$base + INTERVAL ..., with the columns that the watermarks are on.")

  def stateStore(setting: String, found: String, wanted: String): Nothing = fail(
    "STATE_STORE",
    s"The state of a window or a join of streams needs the RocksDB state store, and $setting is " +
      s"$found: set it to $wanted before the query is made.")

  def outputMode(found: String): Nothing = fail(
    "OUTPUT_MODE",
    "Rows of this window union of streams come out again with window_revision() and " +
      s"window_is_final(), which ${found.toLowerCase} mode cannot tell from others: write the query " +
      "by outputMode('update'), or do not select them, for rows that come once.")

  def unsupported(what: String, cure: String): Nothing =
    fail("UNSUPPORTED", s"$what is not supported over two streams: $cure.")

  def stateMismatch(what: String, before: String, now: String): Nothing = fail(
    "STATE_MISMATCH",
    s"The checkpoint was written by a query with other $what: there it is $before, here $now. " +
      "Start the changed query with a new checkpoint location, or undo the change.")

  def stateFormat(found: Int, known: Int): Nothing = fail(
    "STATE_FORMAT",
    s"The checkpoint holds state of format $found, and this version of IntervalSweep reads " +
      s"format $known: use the version that wrote it, or a new checkpoint location.")

  def notInRealTime(what: String): Nothing = inRealTime(
    s"$what needs all rows of a micro-batch at once, which real-time mode does not have")

  private[streams] def noStateInRealTime(what: String): Nothing =
    inRealTime(s"$what run in real-time mode from Spark 4.3 on")

  private[streams] def finalInRealTime(): Nothing = inRealTime(
    "The rows of this window union of streams come out when they are final, which is known when a " +
      "micro-batch ends: select window_revision() in the lateral subquery, for rows that come at " +
      "once, and again when they change")

  private[intervalsweep] def inRealTime(problem: String): Nothing = fail(
    "REAL_TIME",
    s"$problem. Another trigger, such as .trigger(processingTime='1 second'), has no such limit.")

  private[streams] def fail(name: String, message: String): Nothing =
    throw new QueryError(text(name, message), CurrentOrigin.get)
}
