// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import java.time.{Instant, LocalDate}

import org.apache.spark.sql.intervalsweep.condition.ConditionSupport

/** A bound that is waived where a column is NULL has one form, however it is written. */
class OpenBoundsSuite extends ConditionSupport {

  /** Ways to write `comparison OR end IS NULL`. */
  private def waived(comparison: String, opposite: String, end: String): Seq[String] = Seq(
    s"($comparison OR $end IS NULL)",
    s"($end IS NULL OR $comparison)",
    s"($end IS NULL OR NOT $opposite)",
    s"NOT ($end IS NOT NULL AND $opposite)",
    s"if($end IS NULL, true, $comparison)",
    s"if($end IS NOT NULL, $comparison, true)",
    s"nvl2($end, $comparison, true)",
    s"CASE WHEN $end IS NULL THEN true ELSE $comparison END",
    s"CASE WHEN $end IS NOT NULL THEN $comparison ELSE true END",
    s"CASE WHEN NOT $end IS NULL THEN NOT ($opposite) ELSE true END")

  /** Ways to write the same, if the other operand is not NULL. */
  private def notFalse(comparison: String, opposite: String): Seq[String] = Seq(
    s"($comparison) IS NOT FALSE",
    s"coalesce($comparison, true)",
    s"nvl($comparison, true)",
    s"NOT coalesce($opposite, false)",
    s"NOT ($comparison) <=> false",
    s"(($opposite) IS NOT TRUE)",
    s"($comparison) IS DISTINCT FROM false")

  private def upper(strict: Boolean): Seq[String] = {
    val (sign, opposite) = if (strict) ("<", ">=") else ("<=", ">")
    waived(s"s.at $sign r.te", s"s.at $opposite r.te", "r.te") ++
      notFalse(s"s.at $sign r.te", s"s.at $opposite r.te")
  }

  private def sameForm(schema: String, conditions: Seq[String], form: String): Unit =
    for (condition <- conditions; ansi <- Seq(true, false))
      test(s"$schema, $condition, ansi $ansi: $form") {
        assert(Tables(schema, schema, ansi).form(condition) == form)
      }

  private val ends = "k INT, ts INT, te INT, at INT"
  private val open = "coalesce(r.te, 9223372036854775807L)"

  sameForm(
    ends,
    upper(strict = true).map(end => s"s.at >= r.ts AND $end") ++ Seq(
      "s.at >= r.ts AND coalesce(s.at >= r.ts AND s.at < r.te, true)",
      "s.at >= r.ts AND coalesce(iseql_start_preceding(r.ts, r.te, s.at, s.at), true)"),
    s"boxes left, axes [s.at in [r.ts, $open)]")
  sameForm(
    ends,
    upper(strict = false).map(end => s"r.k = s.k AND s.at >= r.ts AND $end"),
    s"keys [r.k = s.k], boxes left, axes [s.at in [r.ts, $open]]")
  sameForm(
    ends,
    Seq(
      "s.at >= r.ts AND (s.at < r.te OR r.k = 1)",
      "s.at >= r.ts AND CASE WHEN r.k = 1 THEN true ELSE s.at < r.te END",
      "CASE WHEN r.k = 1 THEN s.at >= r.ts ELSE s.at >= r.ts AND s.at < r.te END"),
    "boxes left, axes [s.at in [r.ts, (IF((r.k = 1), 9223372036854775807L, r.te)))]")

  private val days = Seq(-1, 0, 1, 5, 36).map(d => LocalDate.ofEpochDay(d.toLong))
  private val numbers = Seq(-3, -1, 0, 1, 2, 5)
  private val wide = Seq(
    Long.MinValue,
    Long.MinValue + 1,
    -1L,
    0L,
    1L,
    Long.MaxValue - 1,
    Long.MaxValue)
  private val instants = wide.map(micros =>
    Instant.ofEpochSecond(
      Math.floorDiv(micros, 1000000L),
      Math.floorMod(micros, 1000000L) * 1000))
  private val fractions = Seq(Double.NegativeInfinity, -0.0, 0.5, Double.MaxValue, Double.NaN)
  private val types = Seq[(String, Seq[Any])](
    "INT" -> numbers,
    "DATE" -> days,
    "BIGINT" -> wide,
    "TIMESTAMP" -> instants,
    "DOUBLE" -> fractions,
    "STRING" -> Seq("", "a", "the same a", "the same b"),
    "DECIMAL(20, 2)" -> Seq("-1", "0.01", "9999999.99").map(new java.math.BigDecimal(_)))

  for ((dataType, values) <- types) {
    val schema = s"ts $dataType, te $dataType"
    val rows = product(values :+ null, values.reverse :+ null)
    val (end, start) = (upper(strict = true), "(s.ts >= r.ts OR r.ts IS NULL)")
    val conditions = Seq(
      end.map(_.replace("s.at", "s.ts")).map(e => s"s.ts >= r.ts AND $e"),
      end.take(3).map(_.replace("s.at", "s.ts")).map(e => s"$start AND $e"),
      upper(strict = false).map(_.replace("s.at", "s.ts")).map(e => s"$start AND $e"),
      Seq(
        "(r.ts < s.te OR s.te IS NULL) AND (s.ts < r.te OR r.te IS NULL)",
        "(r.ts < s.te) IS NOT FALSE AND (s.ts < r.te) IS NOT FALSE",
        "coalesce(interval_intersects(r.ts, r.te, s.ts, s.te), true)",
        "coalesce(r.ts <= s.te, true) AND NOT coalesce(s.ts > r.te, false)",
        "(r.ts < s.ts OR r.ts IS NULL) AND (s.ts < r.te OR r.te IS NULL OR s.ts IS NULL)",
        "(r.ts = s.ts OR r.ts IS NULL) AND (s.te <= r.te OR s.te IS NULL)",
        "r.ts < s.te OR r.te IS NULL OR s.ts IS NULL",
        "greatest(r.ts, s.ts) < least(r.te, s.te)",
        "NOT least(r.te, s.te) <= greatest(r.ts, s.ts)",
        "greatest(r.ts, s.ts) <= r.te AND s.ts >= least(r.ts, s.te)",
        "r.ts <= s.ts AND CASE WHEN r.te IS NULL THEN s.te IS NULL ELSE s.te <= r.te END")).flatten
    for (condition <- conditions; ansi <- Seq(true, false))
      test(s"$dataType: $condition, ansi $ansi") {
        assert(Tables(schema, schema, ansi).assertExact(condition, rows, rows) > 0)
      }
  }

  for (condition <- Seq(
      "s.ts >= r.ts AND (s.ts < r.te + 5 OR r.te IS NULL)",
      "s.ts >= r.ts AND (r.te IS NULL OR s.ts < r.te + 2147483646)",
      "s.ts >= r.ts AND (s.ts - r.te <= 3 OR r.te IS NULL)",
      "s.ts >= r.ts AND coalesce(s.ts - r.te <= 2147483646, true)",
      "s.ts >= r.ts AND (r.te = 0 OR s.ts < 10 DIV r.te)",
      "s.ts >= r.ts AND (10 DIV r.te = 5 OR s.ts < r.te)",
      "(abs(s.ts - r.ts) <= 2 OR r.ts IS NULL) AND (s.te > r.te OR s.te IS NULL)");
    ansi <- Seq(true, false)) test(s"arithmetic that may fail: $condition, ansi $ansi") {
    val rows =
      product(numbers ++ Seq[Any](null, Int.MaxValue), Seq[Any](-1, 0, 2, null, Int.MaxValue))
    assert(Tables("ts INT, te INT", "ts INT, te INT", ansi).assertExact(condition, rows, rows) > 0)
  }
}
