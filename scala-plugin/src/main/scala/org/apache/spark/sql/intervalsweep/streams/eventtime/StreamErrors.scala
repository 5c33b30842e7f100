// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.intervalsweep.QueryError

/** The errors of queries over streams: a closed list. */
object StreamErrors {

  /** The text of an error. Errors that are raised while a stream runs use it directly. */
  private[streams] def text(name: String, message: String): String =
    s"[INTERVALSWEEP_STREAM.$name] $message"

  def noWatermark(side: String, columns: Seq[String]): Nothing = fail(
    "NO_WATERMARK",
    s"The $side has no watermark, so no window would ever be final. Call " +
      s"withWatermark('${columns.headOption.getOrElse("ts")}', '10 seconds') on it, with the " +
      "delay by which its rows may be late. A window of row numbers, such as " +
      "abs(a.seq - b.seq) < 1000, needs no watermark, but supports only count(*).")

  def unboundedState(missing: String, base: String, probe: String): Nothing = fail(
    "UNBOUNDED_STATE",
    s"The window over $probe has no $missing end at a constant distance from $base, so its rows " +
      s"could never be evicted. Write $probe BETWEEN $base - INTERVAL ... AND " +
      s"$base + INTERVAL ..., with the columns that have the watermarks.")

  def stateStore(setting: String, found: String, wanted: String): Nothing = fail(
    "STATE_STORE",
    s"A window or a join of streams needs the RocksDB state store, but $setting is $found: " +
      s"set it to $wanted before you define the query.")

  def outputMode(found: String): Nothing = fail(
    "OUTPUT_MODE",
    "This window union of streams selects window_revision() or window_is_final(), so it emits " +
      s"revisions of a row, which ${found.toLowerCase} mode does not support. Write the query " +
      "with outputMode('update'), or do not select these functions: then each row is emitted once.")

  def unsupported(what: String, cure: String): Nothing =
    fail("UNSUPPORTED", s"$what is not supported over two streams: $cure.")

  def stateMismatch(what: String, before: String, now: String): Nothing = fail(
    "STATE_MISMATCH",
    s"The checkpoint belongs to another query. Different $what: in the checkpoint $before, in " +
      s"this query $now. Start the changed query with a new checkpoint location, or undo the " +
      "change.")

  def stateFormat(found: Int, known: Int): Nothing = fail(
    "STATE_FORMAT",
    s"The checkpoint holds state of format $found, and this version of IntervalSweep reads " +
      s"format $known: use the version that wrote it, or a new checkpoint location.")

  def notInRealTime(what: String): Nothing = inRealTime(
    s"$what needs all rows of a micro-batch at once, so it cannot run in real-time mode")

  private[streams] def noStateInRealTime(what: String): Nothing =
    inRealTime(s"$what need Spark 4.3 or later to run in real-time mode")

  private[streams] def finalInRealTime(): Nothing = inRealTime(
    "This window union of streams emits a row when it is final, which is known only at the end " +
      "of a micro-batch: select window_revision() in the lateral subquery to get each row at " +
      "once, and again when it changes")

  private[intervalsweep] def inRealTime(problem: String): Nothing = fail(
    "REAL_TIME",
    s"$problem. Any other trigger works, such as .trigger(processingTime='1 second').")

  private[streams] def fail(name: String, message: String): Nothing =
    throw new QueryError(text(name, message), CurrentOrigin.get)
}
