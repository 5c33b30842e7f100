// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.intervalsweep.condition.expiry.Unbounded
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.functions.Relation

/** The errors of queries over streams: a closed list. */
object StreamErrors {

  /** The text of an error. Errors that are raised while a stream runs use it directly. */
  private[streams] def text(name: String, message: String): String =
    s"[INTERVALSWEEP_STREAM.$name] $message"

  private[streams] def name(column: Attribute): String = Unbounded.name(column)

  def noEventTime(side: String, advice: String): Nothing = fail(
    "NO_WATERMARK",
    s"The $side comes out of a window union or a join of streams, and has no event time: $advice.")

  private[eventtime] def lostWatermark(side: String, column: String): Nothing = fail(
    "NO_WATERMARK",
    s"The $side has a watermark on $column, but none of its columns is this one: it is left out, " +
      "or computed above withWatermark, for example by a cast. Compute the column first, and call " +
      "withWatermark on the result.")

  def otherWatermark(side: String, what: String, wanted: String, found: String): Nothing = fail(
    "NO_WATERMARK",
    s"In the $side, $what compares $wanted, but the watermark is on $found: call " +
      s"withWatermark('$wanted', ...) in place of withWatermark('$found', ...).")

  def secondWatermark(column: String, advice: String): Nothing = fail(
    "NO_WATERMARK",
    s"withWatermark('$column', ...) stands above a window union or a join of streams that waits " +
      "for the watermark. The watermark of a query is the smallest of all its watermarks, so it " +
      s"would never move, and no row would be emitted: remove this call. If $column is needed as " +
      s"an event time, $advice.")

  private[eventtime] def noWatermark(side: String, columns: Seq[String]): Nothing = fail(
    "NO_WATERMARK",
    s"The $side has no watermark, so nothing limits how late its rows may arrive. Call " +
      s"withWatermark('${columns.headOption.getOrElse("ts")}', '10 seconds') on it, with the " +
      "delay by which its rows may be late. Joins, and windows with only count(*), can compare dense " +
      "row numbers instead, such as abs(a.seq - b.seq) < 1000.")

  /** Raised while a stream runs: the column may have no row numbers, and its late rows may match. */
  private[streams] def disorder(side: Side, column: String, number: Long, before: Long): Nothing =
    throw new IllegalStateException(text(
      "NUMBER_ORDER",
      s"Only the distance of $column bounds the state of a join of streams, so $column must be a " +
        s"row number, but the $side side has $number in a micro-batch after $before. If $column is " +
        "a row number, call inequality_join with window=rows(n, ..., disorder=d), where d is how " +
        "far a row may be behind. If it is not, compare the columns with the watermarks as well."))

  def unboundedState(missing: String, base: String, probe: String, hasMonths: Boolean): Nothing =
    fail(
      "UNBOUNDED_STATE",
      s"The window over $probe has no $missing end at a constant distance from $base, so its rows " +
        "could never be evicted. " +
        (if (hasMonths) "Months have no constant length: use days. " else "") +
        s"Write $probe BETWEEN $base - INTERVAL ... AND " +
        s"$base + INTERVAL ..., with the columns that have the watermarks.")

  def stateStore(setting: String, found: String, wanted: String): Nothing = fail(
    "STATE_STORE",
    s"A window or a join of streams needs the RocksDB state store, but $setting is $found: " +
      s"set it to $wanted before you define the query.")

  def multipleOperators(setting: String): Nothing = fail(
    "SETTING",
    s"A history of streams needs the previous watermark, which $setting=false hides: set it to " +
      "true, and start with a new checkpoint location.")

  def outputMode(found: String): Nothing = fail(
    "OUTPUT_MODE",
    "This window union of streams selects window_revision() or window_is_final(), so it emits " +
      s"revisions of a row, which ${found.toLowerCase} mode does not support. Write the query " +
      "with outputMode('update'), or do not select these functions: then each row is emitted once.")

  def revisionsAreNoRows(what: String): Nothing = unsupported(
    s"$what above a window union with revisions, which would take each revision for a row,",
    "keep only the final rows below it, by a filter on the column of window_is_final() such as " +
      ".where('is_final'), or do not select window_revision() and window_is_final()")

  def unsupported(what: String, cure: String): Nothing =
    fail("UNSUPPORTED", s"$what is not supported over two streams: $cure.")

  def stateMismatch(what: String, before: String, now: String): Nothing = fail(
    "STATE_MISMATCH",
    s"The checkpoint belongs to another query. Different $what: in the checkpoint $before, in " +
      s"this query $now. Start the changed query with a new checkpoint location, or undo the " +
      "change.")

  def repartitioned(before: Int, now: Int): Nothing = fail(
    "STATE_MISMATCH",
    s"The checkpoint holds the state of $before state partitions, and it was repartitioned to " +
      s"$now. IntervalSweep stores rows under the number of their partition, so it cannot go on " +
      "from there: start with a new checkpoint location, or with a copy of the checkpoint from " +
      "before.")

  def stateFormat(found: Int, known: Int): Nothing = fail(
    "STATE_FORMAT",
    s"The checkpoint holds state of format $found, and this version of IntervalSweep reads " +
      s"format $known: use the version that wrote it, or a new checkpoint location.")

  def missingRows(rows: Long): Nothing = fail(
    "STATE_INCOMPLETE",
    s"The checkpoint lacks $rows rows that it should hold. Either files were removed from it, or " +
      "the query computes other rows each time (by rand() or a UDF that is not deterministic) and " +
      "was killed in a micro-batch: make it deterministic, and use a new checkpoint location.")

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

  def unbounded(missing: Unbounded): Nothing = fail(
    "UNBOUNDED_STATE",
    s"Rows of the ${missing.side} side of a join of streams could never be evicted, because " +
      s"nothing limits how late `${name(missing.clock)}` of a match may be: ${missing.advice}.")

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

  def cannotJoin(what: String, cure: String): Nothing =
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
