// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.intervalsweep.FunctionCalls.{report, rows}

/**
 * The functions of [[IntervalFunctions]] on DataFrames. An argument that is null is not given.
 * Constants are values that Spark's `lit` accepts: numbers, `java.time.LocalDate`,
 * `java.time.Instant`, `java.time.Duration` and others. `ts` and `te` are names of columns. A wrong
 * argument is an AnalysisException.
 */
private[intervalsweep] trait TableFunctions {

  /**
   * Merges intervals that overlap, touch, or are at most `gap` apart.
   *
   * @param keys  columns whose values keep rows apart
   * @param gap   a length: a number, or a Duration between dates or timestamps
   * @param count the name of the column with the number of merged intervals
   * @param nulls a NULL end: `unbounded` (the default), `drop` the row, or `error`
   * @return the keys, `ts`, `te` and `count`: one row per merged interval
   */
  def intervalMerge(
      data: DataFrame,
      ts: String,
      te: String,
      keys: Seq[String] = Nil,
      gap: Any = null,
      count: String = null,
      nulls: String = null): DataFrame =
    rows("interval_merge", data)(ts, te)(
      "keys" -> keys,
      "gap" -> gap,
      "count" -> count,
      "nulls" -> nulls)

  /**
   * Splits time at all starts and ends, and counts the intervals that cover each fragment. The
   * arguments are those of `intervalMerge`.
   *
   * @return the keys, `ts`, `te` and `count`: one row per fragment that an interval covers
   */
  def intervalSplit(
      data: DataFrame,
      ts: String,
      te: String,
      keys: Seq[String] = Nil,
      count: String = null,
      nulls: String = null): DataFrame =
    rows("interval_split", data)(ts, te)("keys" -> keys, "count" -> count, "nulls" -> nulls)

  /**
   * The gaps between intervals.
   *
   * @param keys   columns whose values keep rows apart
   * @param within start and end of the time whose gaps are returned; by default from the first start
   *               to the last end of each key
   * @param nulls  a NULL end: `unbounded` (the default), `drop` the row, or `error`
   * @return the keys, `ts` and `te`: one row per gap
   */
  def intervalComplement(
      data: DataFrame,
      ts: String,
      te: String,
      keys: Seq[String] = Nil,
      within: (Any, Any) = null,
      nulls: String = null): DataFrame =
    rows("interval_complement", data)(ts, te)("keys" -> keys, "within" -> within, "nulls" -> nulls)

  /**
   * Marks a DataFrame as a valid-time relation for `sequenced`, and hides its period.
   *
   * @param te        without it, a row is valid from `ts` on, or `ts` is a struct of both ends.
   *                  Without `ts` too, the table property `validtime` names both
   * @param nulls     a NULL end: `unbounded` (the default), `drop` the row, or `error`
   * @param invalid   an empty or reversed period: `drop` (the default) or `error`
   * @param closed    the ends that belong to a period: `left` (the default), `right`, `both` or
   *                  `neither`
   * @param unbounded an end that means "no end", or a sequence of several
   * @param names     names of the period's columns in results
   * @param step      how far a closed end is from the start of the next period
   * @param unboundedStart a start that means "no start", or a sequence of several
   * @param untilNext the rows are changes: each is valid from `ts` until the next one of the same
   *                  values in these columns, the last until further notice. Only `names` can be
   *                  given besides
   * @param order     columns that order the changes at the same instant: only the last of them is
   *                  valid. Without them, all are
   * @param deleted   a condition in SQL. A change that meets it only ends the previous change
   * @return the other columns; only `sequenced` and the `temporal...` functions can read it
   */
  def validtime(
      data: DataFrame,
      ts: String = null,
      te: String = null,
      nulls: String = null,
      invalid: String = null,
      closed: String = null,
      unbounded: Any = null,
      names: (String, String) = null,
      step: Any = null,
      unboundedStart: Any = null,
      untilNext: Seq[String] = null,
      order: Seq[String] = Nil,
      deleted: String = null): DataFrame =
    rows("validtime", data)(ts, te)(
      "nulls" -> nulls,
      "invalid" -> invalid,
      "closed" -> closed,
      "unbounded" -> unbounded,
      "names" -> names,
      "step" -> step,
      "unbounded_start" -> unboundedStart,
      "until_next" -> untilNext,
      "order" -> order,
      "deleted" -> deleted)

  /**
   * The history of a plain query over DataFrames that `validtime` marked.
   *
   * @param period    the part of the history from its first value to before its second; null in it
   *                  means no limit
   * @param at        returns the rows at this instant, without a period
   * @param coalesce  returns the fewest rows: equal rows whose periods touch become one
   * @param names     names of the period's columns; by default those of the first marked DataFrame
   * @param closed    the ends that belong to a period of the result, as in `validtime`
   * @param unbounded an end that means "no end" in the result, in place of NULL
   * @param step      as in `validtime`
   * @param emit      for streams: "final" (the default) returns a row when its period has ended,
   *                  "early" as soon as it is certain, cut at the watermark
   * @return the rows of the query, each with the period in which the query returns it
   */
  def sequenced(
      query: DataFrame,
      period: (Any, Any) = null,
      at: Any = null,
      coalesce: Boolean = false,
      names: (String, String) = null,
      closed: String = null,
      unbounded: Any = null,
      step: Any = null,
      emit: String = null): DataFrame =
    rows("sequenced", query)()(
      "period" -> period,
      "at" -> at,
      "coalesce" -> coalesce,
      "names" -> names,
      "closed" -> closed,
      "unbounded" -> unbounded,
      "step" -> step,
      "emit" -> emit)

  /**
   * Each row, at each instant, as often as the side that has it more often. Inside `sequenced` both
   * sides are valid-time relations; elsewhere `ts` and `te` name their periods.
   */
  def temporalUnionMax(
      a: DataFrame,
      b: DataFrame,
      ts: String = null,
      te: String = null): DataFrame =
    rows("temporal_union_max", a, b)()("ts" -> ts, "te" -> te)

  /**
   * The rows of `a`, at each instant, that no row of `b` equals. Inside `sequenced` both sides are
   * valid-time relations; elsewhere `ts` and `te` name their periods.
   */
  def temporalExceptStrict(
      a: DataFrame,
      b: DataFrame,
      ts: String = null,
      te: String = null): DataFrame =
    rows("temporal_except_strict", a, b)()("ts" -> ts, "te" -> te)

  /**
   * Merges equal rows whose periods overlap or touch into the fewest periods. Inside `sequenced`,
   * `data` is a valid-time relation; elsewhere `ts` and `te` name its period.
   *
   * @param maxLength the length from which on a period is not extended; no row is cut
   */
  def temporalCoalesce(
      data: DataFrame,
      maxLength: Any = null,
      ts: String = null,
      te: String = null): DataFrame =
    rows("temporal_coalesce", data)()("max_length" -> maxLength, "ts" -> ts, "te" -> te)

  /**
   * Splits periods into fragments of at most `maxLength`: a number, a Duration, or a text such as
   * `2 weeks`. Inside `sequenced`, `data` is a valid-time relation; elsewhere `ts` and `te` name its
   * period.
   */
  def temporalSplit(
      data: DataFrame,
      maxLength: Any,
      ts: String = null,
      te: String = null): DataFrame =
    rows("temporal_split", data)()("max_length" -> maxLength, "ts" -> ts, "te" -> te)

  /**
   * Sets the end of each row's period from its start. Inside `sequenced`, `data` is a valid-time
   * relation; elsewhere `ts` and `te` name its period.
   *
   * @param sliding   each row is valid for this long from its start on
   * @param fixed     each row is valid to the end of the window of this length in which it starts
   * @param origin    the start of one fixed window
   * @param onBounded a period that has an end: `replace` the end (the default) or `error`
   */
  def temporalWindow(
      data: DataFrame,
      sliding: Any = null,
      fixed: Any = null,
      origin: Any = null,
      onBounded: String = null,
      ts: String = null,
      te: String = null): DataFrame =
    rows("temporal_window", data)()(
      "sliding" -> sliding,
      "fixed" -> fixed,
      "origin" -> origin,
      "on_bounded" -> onBounded,
      "ts" -> ts,
      "te" -> te)

  /**
   * Cuts periods at the edges of months or of other buckets, for sums and means over time.
   *
   * @param every      the length of the buckets: a number, a Duration, or a text such as `month`
   * @param te         without it, a row is valid from `ts` on
   * @param origin     the start of one bucket
   * @param period     the part of the time that is returned; null in it means no limit. Rows
   *                   without a start or an end need it
   * @param names      names of the added columns: start and end of the bucket, and `share`
   * @param maxBuckets the most buckets of one row, a million by default
   * @return the rows, for each bucket that they overlap, with the share of its time that they cover
   */
  def temporalResample(
      data: DataFrame,
      every: Any,
      ts: String,
      te: String = null,
      origin: Any = null,
      period: (Any, Any) = null,
      names: (String, String, String) = null,
      maxBuckets: java.lang.Long = null): DataFrame =
    rows("temporal_resample", data)()(
      "every" -> every,
      "ts" -> ts,
      "te" -> te,
      "origin" -> origin,
      "period" -> period,
      "names" -> names,
      "max_buckets" -> maxBuckets)

  /** Reports how each join of a query is planned, without running the query: a row per join. */
  def intervalJoinReport(spark: SparkSession, query: String): DataFrame =
    report(spark, "interval_join_report", query)
}
