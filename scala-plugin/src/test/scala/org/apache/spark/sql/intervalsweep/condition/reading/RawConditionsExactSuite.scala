// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import java.time.{Duration, Instant, LocalDate, LocalDateTime, ZoneOffset}

import org.apache.spark.sql.intervalsweep.condition.ConditionSupport

/** Written-out conditions over all types: the sweeps match the same pairs as Spark does. */
class RawConditionsExactSuite extends ConditionSupport {

  private def micros(value: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(value, 1000000L), Math.floorMod(value, 1000000L) * 1000)

  private val extremes = Seq(Long.MinValue, Long.MaxValue).map(micros)

  private def check(
      name: String,
      rSchema: String,
      rRows: Seq[Row],
      sSchema: String,
      sRows: Seq[Row],
      zones: String*)(conditions: String*): Unit =
    for (sql <- conditions; ansi <- Seq(true, false);
      zone <- if (zones.isEmpty) Seq("UTC") else zones) test(s"$name: $sql, ansi $ansi, $zone") {
      assert(Tables(rSchema, sSchema, ansi, zone).assertExact(sql, rRows, sRows) > 0)
    }

  private val numbers = Seq[Any](null, -3, -1, 0, 1, 2, 5, 1 << 20)
  private val ints = product(Seq(0, 1, null), numbers, numbers.take(5))

  check("INT", "k INT, ts INT, te INT", ints, "k INT, ts INT, te INT", ints)(
    "r.ts < s.te AND s.ts < r.te",
    "r.k = s.k AND r.ts < s.te AND s.ts < r.te",
    "r.k <=> s.k AND r.ts <= s.te AND s.ts <= r.te",
    "r.ts < s.ts AND s.te < r.te AND r.te <> s.ts",
    "r.ts > s.te",
    "r.k = s.k AND r.ts > s.ts AND r.te > s.te",
    "s.ts BETWEEN r.ts AND r.te AND (r.k = 1 OR s.k = 1)",
    "s.ts > r.ts AND s.ts > r.te AND s.ts < r.k",
    "s.ts >= r.ts AND s.ts <= r.ts + 1 AND s.ts < r.te + s.k",
    "coalesce(r.ts < s.te AND (s.ts < r.te) IS TRUE, false)",
    "NOT coalesce(r.ts >= s.te, true) AND (s.ts >= r.te) <=> false",
    "CASE WHEN r.k = s.k THEN s.ts BETWEEN r.ts AND r.te END",
    "if(r.ts < s.ts, 1 DIV (r.ts - s.ts) < r.te AND s.ts < r.te, false)",
    "CASE WHEN r.k <> s.k AND s.ts > r.ts THEN s.ts < r.te + 1 DIV (r.k - s.k) END",
    "CASE WHEN r.te <> 0 THEN s.ts BETWEEN r.ts AND r.ts + 10 DIV r.te ELSE false END",
    "allen_starts(r.ts, r.te, s.ts, s.te) AND r.k = s.k",
    "allen_meets(r.ts, r.te, s.ts, s.te) AND s.te BETWEEN r.ts AND r.te + 7",
    "interval_intersects(r.ts, r.te, s.ts, s.te) AND interval_intersects(r.ts, r.te, s.te, s.ts)",
    "interval_intersects(r.ts - s.k, r.te, s.ts, s.te)",
    "NOT interval_intersects(r.ts, r.te, s.ts, s.te) AND r.ts < s.ts AND s.ts < r.te + 3")

  private val fractions = Seq(
    Double.NegativeInfinity,
    -1.5,
    -0.0,
    0.0,
    0.5,
    1.0,
    16777217.0,
    9.007199254740992e15,
    Double.PositiveInfinity,
    Double.NaN)
  private val wide = Seq(Long.MinValue, -2L, 0L, 1L, 16777217L, 9007199254740993L, Long.MaxValue)

  check(
    "DOUBLE and FLOAT",
    "d DOUBLE, f FLOAT",
    product(fractions :+ null, fractions.map(_.toFloat)),
    "b BIGINT, d DOUBLE",
    product(wide :+ null, fractions))(
    "r.d <= s.b AND s.b <= r.d + 2",
    "r.f < s.b AND s.b < r.d",
    "s.d BETWEEN r.d - 1 AND r.d + 1",
    "s.d = r.d AND r.f < s.b AND r.d < s.b",
    "s.d <=> r.d AND r.f < s.b AND r.d < s.b",
    "r.f < s.d AND r.d > s.d",
    "iseql_before(r.d, r.d, s.d, s.d, r.f)",
    "abs(r.d - s.d) < 0.5",
    "abs(s.d - r.d) <= 0.5D AND r.f < s.b",
    "r.d - s.d BETWEEN -0.5D AND 1.5D",
    "s.d - r.d > -1.5F AND s.d - r.d < r.f",
    "r.f - s.d >= 0 AND r.d - s.d < r.f",
    "CAST(s.d AS FLOAT) - r.f < 0.3 AND r.f - CAST(s.d AS FLOAT) <= 0.3D",
    "NOT r.d - s.d >= 1.0D AND NOT 1.0D < s.d - r.d",
    "floor(r.d) <= floor(s.d) AND ceil(s.d) < ceil(r.d) + 3",
    "round(r.d, 1) <= round(s.d, 1) AND s.b DIV 3 >= 0 AND r.d / 2 <= s.d / 2",
    "iseql_before(r.d, r.d, s.d, s.d, s.d) AND r.d <= s.d")

  check(
    "BIGINT, bands",
    "b BIGINT",
    product(wide :+ null),
    "b BIGINT, i INT",
    product(wide :+ null, Seq(-1, 7)))(
    "s.b BETWEEN r.b * 0.9 AND r.b * 1.1",
    "s.b > r.b * 0.95 AND s.b < r.b * 1.5",
    "s.i >= r.b * 0.25 AND s.i - 9 < r.b * 1.0",
    "r.b <= s.i * 922337203685477580.7 AND r.b >= s.i")

  private def decimals(values: String*): Seq[Any] = values.map(new java.math.BigDecimal(_))

  check(
    "DECIMAL",
    "c DECIMAL(9, 2), d DECIMAL(18, 4)",
    product(decimals("-1", "0.01", "3", "9999999.99") :+ null, decimals("-1", "0.0101", "2.9999")),
    "i INT, d DECIMAL(17, 4), w DECIMAL(20, 2)",
    product(Seq(-1, 0, 3, 99), decimals("-1", "0.01", "2.9999") :+ null, decimals("0.01", "3")))(
    "r.c <= s.i AND s.i < r.d + 5",
    "r.d < s.d AND r.c >= s.d",
    "r.c < s.d AND s.i < r.c",
    "s.d BETWEEN r.d - 1 AND r.d + 1 AND r.c <= s.d",
    "r.c < s.w AND s.w <= r.d",
    "s.w BETWEEN r.c AND r.c + 1",
    "abs(r.d - s.d) < 0.5 AND r.c <= s.i",
    "abs(r.c - s.d) <= 1.9899",
    "s.i BETWEEN r.c * 0.9 AND r.d * 1.25",
    "s.i > r.c * 0.9 AND s.i < r.c * 1.105 AND r.c > 0",
    "s.d BETWEEN s.i + r.c * 1.5 AND r.c * 2",
    "r.c > s.i * 0.1 AND r.c <= s.i * 2.50 + 3",
    "s.w - r.d BETWEEN -0.5 AND 3 AND r.c <= s.w",
    "r.d - s.d < r.c AND s.d - r.d < 0.0001",
    "iseql_start_preceding(r.c, s.w, s.d, s.w, delta => 0.5)",
    "iseql_start_preceding(r.c, CAST(r.c + 9 AS DECIMAL(20, 2)), s.i, s.w, delta => 3.5)",
    "iseql_before(r.d, r.d, s.w, s.w, delta => s.i) AND r.c < s.i")

  private val texts =
    product(Seq("", "a", "the same a", "the same b", "\u00e4", "A", null), Seq("a", "the same b"))

  check("STRING", "a STRING, b STRING", texts, "c STRING, d STRING", texts)(
    "r.a < s.c",
    "r.a <= s.c AND s.c < r.b",
    "r.a < s.d AND s.c <= r.b",
    "r.a <= s.d AND s.c < r.b AND r.b <> s.d",
    "r.a = s.c AND r.b < s.d AND r.a <= s.d",
    "s.c BETWEEN lower(r.a) AND concat(r.b, 'z')",
    "lower(r.a) < upper(s.c) AND r.b > s.d",
    "r.a < concat(s.c, s.d)",
    "(r.a < s.c AND s.d < r.b) OR (r.a = s.d AND r.b <= s.c)",
    "(s.c BETWEEN r.a AND r.b) OR (r.a BETWEEN s.c AND s.d)",
    "allen_starts(r.a, r.b, s.c, s.d)",
    "CAST(r.a AS BINARY) < CAST(s.c AS BINARY) AND r.b >= s.d",
    "struct(r.a, r.b) < struct(s.c, s.d)",
    "struct(r.b, r.a) <= struct(s.c, s.d) AND r.a < s.d")

  private val days = Seq(-40, -1, 0, 1, 5, 36, 20000).map(d => LocalDate.ofEpochDay(d.toLong))
  private val allDays = days ++
    Seq(Int.MinValue, Int.MaxValue - 3).map(d => LocalDate.ofEpochDay(d.toLong))
  private val instants = days.map(_.atTime(1, 0).toInstant(ZoneOffset.UTC)) ++ extremes

  check(
    "DATE",
    "d DATE, n INT",
    product(allDays :+ null, Seq(-1, 0, 35)),
    "d DATE, t TIMESTAMP, i INTERVAL DAY TO SECOND",
    product(
      allDays,
      instants.take(5) ++ extremes,
      Seq(Duration.ofHours(-1), Duration.ofHours(121))),
    "UTC",
    "Europe/Berlin")(
    "datediff(s.d, r.d) <= 5 AND r.d <= s.d",
    "datediff(s.d, r.d) BETWEEN 0 AND r.n",
    "s.d - r.d <= INTERVAL '5' DAY AND s.d >= r.d",
    "s.d - r.d < INTERVAL '36' HOUR AND s.d >= r.d",
    "INTERVAL '-36' HOUR <= r.d - s.d AND s.d >= r.d",
    "s.d - r.d <= s.i AND s.d > date_sub(r.d, 100)",
    "s.d - r.d = INTERVAL '1' DAY",
    "s.d - r.d <= r.d - s.d AND s.d >= r.d",
    "s.d BETWEEN r.d AND date_add(r.d, r.n)",
    "s.d <= r.d + INTERVAL '1' MONTH AND s.d >= r.d",
    "date_add(s.d, r.n) <= r.d AND r.d < s.d + 100",
    "s.t BETWEEN r.d AND date_add(r.d, 1)",
    "s.t >= r.d AND s.d <= r.d + 7",
    "datediff(s.t, r.d) <= 3 AND s.d >= r.d",
    "trunc(s.d, 'MM') >= trunc(r.d, 'YEAR') AND trunc(s.d, 'MM') <= trunc(r.d, 'WEEK')",
    "add_months(s.d, r.n) >= r.d AND add_months(s.d, 1) <= add_months(r.d, 2)",
    "unix_timestamp(s.d) <= unix_timestamp(r.d) AND unix_date(s.d) * 3 >= unix_date(r.d) * 3 - 9",
    "weekday(s.d) <= weekday(r.d) AND quarter(s.d) >= quarter(r.d)",
    "date_from_unix_date(r.n) <= s.d AND unix_date(r.d) % 7 < unix_date(s.d) % 5")

  // Clocks in Berlin changed at 01:00 UTC on 2024-03-31 and on 2024-10-27.
  private val changes = Seq("2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z").map(Instant.parse)
  private val around = for (c <- changes; hours <- Seq(-25, -24, -23, -2, -1, 0, 1, 23, 24, 25))
    yield c.plusSeconds(hours * 3600L)
  private val moments = product(around ++ extremes :+ null)

  check("TIMESTAMP", "t TIMESTAMP", moments, "t TIMESTAMP", moments, "UTC", "Europe/Berlin")(
    "s.t - r.t <= INTERVAL '1' HOUR AND s.t >= r.t",
    "s.t - r.t BETWEEN INTERVAL '0' HOUR AND INTERVAL '1' DAY",
    "s.t BETWEEN r.t AND r.t + INTERVAL '24' HOUR",
    "s.t BETWEEN r.t - INTERVAL '1' DAY AND r.t",
    "s.t - INTERVAL '1' DAY < r.t AND s.t > r.t",
    "s.t <= r.t + INTERVAL '1' MONTH AND r.t <= s.t",
    "s.t - r.t = INTERVAL '1' HOUR",
    "iseql_before(r.t, r.t, s.t, s.t, INTERVAL '1' DAY)",
    "date_trunc('HOUR', s.t) >= date_trunc('HOUR', r.t) AND date_trunc('HOUR', s.t) <= date_trunc('DAY', r.t)",
    "date_trunc('YEAR', s.t) <= date_trunc('WEEK', r.t) AND s.t >= date_trunc('MILLISECOND', r.t)",
    "unix_timestamp(s.t) - unix_timestamp(r.t) BETWEEN 0 AND 3600",
    "timestampdiff(HOUR, r.t, s.t) < 2 AND s.t >= r.t",
    "abs(timestampdiff(MINUTE, r.t, s.t)) <= 59",
    "timestampdiff(DAY, r.t, s.t) = 0",
    "timestampdiff(DAY, s.t, r.t) = 1",
    "timestampdiff(WEEK, r.t, s.t) BETWEEN -1 AND 0 AND timestampdiff(SECOND, s.t, r.t) > 3600",
    "timestampdiff(MONTH, r.t, s.t) BETWEEN 0 AND 6",
    "timestampdiff(QUARTER, r.t, s.t) BETWEEN -2 AND -1",
    "abs(timestampdiff(YEAR, r.t, s.t)) < 1 AND timestampdiff(MILLISECOND, r.t, s.t) > -3600000",
    "unix_seconds(s.t) >= unix_seconds(r.t) AND unix_millis(s.t) < unix_millis(r.t) + 1000",
    "unix_micros(s.t) * 2 <= unix_micros(r.t) * 2 AND s.t >= r.t",
    "timestamp_seconds(unix_seconds(s.t)) >= timestamp_millis(unix_millis(r.t))",
    "to_utc_timestamp(s.t, 'Asia/Tokyo') <= from_utc_timestamp(r.t, 'Asia/Tokyo')",
    "hour(s.t) > hour(r.t) AND year(s.t) >= year(r.t)",
    "CAST(s.t AS BIGINT) <= CAST(r.t AS BIGINT) AND CAST(s.t AS DOUBLE) >= CAST(r.t AS DOUBLE)",
    "r.t < s.t")

  // Times next to whole minutes and months from each other.
  private val edges = product(for {
    start <- Seq("2024-01-31T00:00:00Z", "2024-02-29T00:00:00Z", "2024-03-31T00:00:00Z")
    minutes <- Seq(-2, -1, 0, 1, 2)
    micros <- Seq(-1, 0, 1)
  } yield Instant.parse(start).plusSeconds(minutes * 60L).plusNanos(micros * 1000L))

  check("edges", "t TIMESTAMP", edges, "t TIMESTAMP", edges, "UTC", "Europe/Berlin")(
    "timestampdiff(MINUTE, r.t, s.t) < 2 AND timestampdiff(MINUTE, r.t, s.t) >= -1",
    "timestampdiff(MINUTE, r.t, s.t) = 0",
    "2 <= timestampdiff(MINUTE, r.t, s.t) AND 3 > timestampdiff(MINUTE, r.t, s.t)",
    "abs(timestampdiff(MONTH, r.t, s.t)) = 1 AND abs(timestampdiff(MONTH, r.t, s.t)) <= 1",
    "timestampdiff(MONTH, r.t, s.t) BETWEEN -2 AND -1",
    "timestampdiff(MONTH, r.t, s.t) >= 2 AND timestampdiff(DAY, r.t, s.t) < 61")

  private val local = moments.map(_.map {
    case i: Instant => LocalDateTime.ofInstant(i, ZoneOffset.UTC)
    case other => other
  })

  check("TIMESTAMP_NTZ", "t TIMESTAMP_NTZ", local, "t TIMESTAMP_NTZ", local, "Europe/Berlin")(
    "s.t - r.t <= INTERVAL '1' HOUR AND s.t >= r.t",
    "s.t - r.t < INTERVAL '1' DAY AND s.t - r.t > INTERVAL '1' HOUR",
    "s.t - INTERVAL '1' DAY < r.t AND s.t > r.t",
    "s.t BETWEEN r.t AND r.t + INTERVAL '1' MONTH")

  check("mixed", "t TIMESTAMP", moments, "t TIMESTAMP_NTZ", local, "UTC", "Europe/Berlin")(
    "s.t BETWEEN r.t AND r.t + INTERVAL '24' HOUR",
    "s.t - r.t <= INTERVAL '1' HOUR AND s.t >= r.t")

  private val spans =
    product(Seq(-1L, 0L, 1L, 30L, Long.MaxValue / 3600000000L).map(Duration.ofHours))

  check("INTERVAL", "i INTERVAL DAY TO SECOND", spans, "i INTERVAL DAY TO SECOND", spans)(
    "r.i < s.i",
    "s.i - r.i <= INTERVAL '1' HOUR AND s.i >= r.i",
    "s.i BETWEEN r.i AND r.i + INTERVAL '1' DAY")

  check(
    "fallible",
    "a STRING, x INT",
    product(Seq("1", "2", "x", null), Seq(0, 2)),
    "b STRING, y INT",
    product(Seq("1", "3", "y"), Seq(0, 1, 2)))(
    "CAST(r.a AS INT) <= s.y AND r.x <= s.y",
    "r.x <= s.y AND s.y < CAST(r.a AS INT) + 2",
    "r.x < s.y AND CAST(r.a AS INT) < CAST(s.b AS INT)",
    "2 DIV r.x <= s.y",
    "r.x <= s.y AND s.y <= 4 DIV r.x",
    "CAST(r.a AS INT) <= s.y AND s.y <= CAST(r.a AS INT) + 2",
    "r.x <> s.y AND 4 DIV (r.x - s.y) < 9 AND r.x <= s.y",
    "r.a = s.b AND r.x <= s.y AND s.y <= r.x + 1")
}
