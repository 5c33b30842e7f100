// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}

/** Conditions with one meaning have one form, however they are written. */
class SpellingsSuite extends ConditionSupport {

  private val integers = "k INT, ts INT, te INT, x BIGINT"
  private val both = Tables(integers, integers)
  private val legacy = both.copy(ansi = false)

  private def sameForm(tables: Tables, form: String)(spellings: String*): Unit =
    spellings.foreach { sql =>
      test(s"$sql, ansi ${tables.ansi}, ${tables.zone}: $form") {
        assert(tables.form(sql) == form)
      }
    }

  for (tables <- Seq(both, legacy)) {
    sameForm(tables, "boxes left, axes [s.ts in [r.ts, r.te)]")(
      "r.ts <= s.ts AND s.ts < r.te",
      "s.ts >= r.ts AND r.te > s.ts",
      "r.te > s.ts AND NOT r.ts > s.ts",
      "NOT (s.ts < r.ts OR s.ts >= r.te)",
      "NOT (NOT (r.ts <= s.ts)) AND s.ts < r.te",
      "CAST(s.ts AS BIGINT) >= CAST(r.ts AS BIGINT) AND r.te > s.ts",
      "true AND r.ts <= s.ts AND s.ts < r.te",
      "coalesce(r.ts <= s.ts AND s.ts < r.te, false)",
      "coalesce(r.ts <= s.ts AND ifnull(s.ts < r.te, false), false)",
      "(r.ts <= s.ts) IS TRUE AND (s.ts < r.te) = true",
      "(r.ts <= s.ts AND s.ts < r.te) <=> true",
      "(r.ts > s.ts) <=> false AND NOT coalesce(s.ts >= r.te, true)",
      "if(r.ts <= s.ts, s.ts < r.te, false)",
      "CASE WHEN r.ts <= s.ts THEN s.ts < r.te ELSE false END",
      "CASE WHEN r.ts <= s.ts THEN s.ts < r.te END",
      "CASE WHEN r.ts <= s.ts AND s.ts < r.te THEN true ELSE NULL END",
      "coalesce(if(r.ts <= s.ts, (s.ts < r.te) IS TRUE, NULL), false)",
      "iseql_start_preceding(r.ts, r.te, s.ts, s.te)")

    sameForm(tables, "boxes right, axes [r.x in [s.ts, s.te]]")(
      "r.x BETWEEN s.ts AND s.te",
      "NOT (r.x NOT BETWEEN s.ts AND s.te)",
      "s.te >= r.x AND r.x >= s.ts")

    sameForm(tables, "boxes left, axes [s.ts in (r.ts, r.te), s.te in (r.te, inf)]")(
      "allen_overlaps(r.ts, r.te, s.ts, s.te)",
      "r.ts < s.ts AND s.ts < r.te AND r.te < s.te",
      "r.te < s.te AND r.te > s.ts AND s.ts > r.ts")

    // A split: the points of neither side are bounded at both ends.
    sameForm(
      tables,
      "boxes left, axes [s.ts in [r.ts, r.te), s.te in (r.ts, inf)], " +
        "boxes right, axes [r.ts in (s.ts, s.te), r.te in (s.ts, inf)]")(
      "interval_intersects(r.ts, r.te, s.ts, s.te)",
      "r.ts < s.te AND s.ts < r.te",
      "r.te > s.ts AND s.te > r.ts")
    sameForm(
      tables,
      "boxes left, axes [s.ts in [r.te, r.ts), s.te in (r.te, inf)], " +
        "boxes right, axes [r.te in (s.ts, s.te), r.ts in (s.ts, inf)]")(
      "allen_during(r.ts, r.te, s.ts, s.te)",
      "r.te < s.te AND s.ts < r.ts")

    // The equality becomes the lead axis.
    sameForm(tables, "boxes left, axes [s.ts in [r.ts, r.ts], s.te in (r.te, inf)]")(
      "allen_starts(r.ts, r.te, s.ts, s.te)",
      "allen_started_by(s.ts, s.te, r.ts, r.te)")
    sameForm(tables, "boxes left, axes [s.ts in [r.te, r.te]]")(
      "allen_meets(r.ts, r.te, s.ts, s.te)",
      "allen_met_by(s.ts, s.te, r.ts, r.te)")
    sameForm(tables, "boxes left, axes [s.ts in [r.ts, r.ts], s.te in [r.te, r.te]]")(
      "allen_equals(r.ts, r.te, s.ts, s.te)",
      "allen_equals(s.ts, s.te, r.ts, r.te)")
    sameForm(tables, "boxes left, axes [s.ts in [r.te, r.te], s.x in (r.x, inf)]")(
      "allen_meets(r.ts, r.te, s.ts, s.te) AND r.x < s.x")

    sameForm(tables, "boxes left, axes [s.ts in (r.ts, inf)]")("r.ts < s.ts", "NOT s.ts <= r.ts")

    sameForm(tables, "keys [r.k = s.k], boxes left, axes [s.ts in [r.te, (r.te + 5)]]")(
      "s.k = r.k AND iseql_before(r.ts, r.te, s.ts, s.te, 5)",
      "iseql_after(s.ts, s.te, r.ts, r.te, delta => 5) AND r.k = s.k")

    sameForm(
      tables,
      "keys [coalesce(r.k, 0) = coalesce(s.k, 0), (r.k IS NULL) = (s.k IS NULL)], " +
        "boxes left, axes [s.ts in [r.ts, r.te)]")(
      "s.k <=> r.k AND r.ts <= s.ts AND s.ts < r.te")

    // A function that consists of equalities becomes a key if another range exists.
    sameForm(tables, "keys [r.te = s.ts], boxes left, axes [s.x in [r.x, r.k]]")(
      "allen_meets(r.ts, r.te, s.ts, s.te) AND s.x BETWEEN r.x AND r.k")

    // Several bounds on one point become one bound.
    sameForm(
      tables,
      "boxes left, axes [s.ts in [r.ts, least((r.te - 1), (r.ts + 5))], " +
        "s.te in [r.te, (r.te + 7)]]")(
      "iseql_left_overlap(r.ts, r.te, s.ts, s.te, 5, 7)",
      "iseql_right_overlap(s.ts, s.te, r.ts, r.te, epsilon => 7, delta => 5)")

    sameForm(
      tables,
      "boxes left, axes [s.ts in [r.ts, r.te)], residual ((r.k * s.k) = 3)")(
      "r.ts <= s.ts AND r.k * s.k = 3 AND s.ts < r.te")
  }

  sameForm(both, "boxes left, axes [s.ts in [r.ts, (r.ts + 5)]]")(
    "s.ts BETWEEN r.ts AND r.ts + 5",
    "s.ts - r.ts BETWEEN 0 AND 5",
    "s.ts - r.ts <= 5 AND r.ts <= s.ts",
    "s.ts - 5 <= r.ts AND s.ts >= r.ts",
    "r.ts - s.ts >= -5 AND s.ts >= r.ts",
    "r.ts + 2 >= s.ts - 3 AND NOT s.ts - r.ts < 0",
    "-r.ts <= 5 - s.ts AND s.ts >= r.ts")
  sameForm(both, "boxes left, axes [s.ts in [(r.ts - 5), (r.ts + 5)]]")(
    "abs(r.ts - s.ts) <= 5",
    "abs(r.ts - s.ts) <= 5L",
    "abs(s.ts - r.ts) < 6",
    "NOT abs(s.ts - r.ts) > 5",
    "s.ts BETWEEN r.ts - 5 AND r.ts + 5")
  sameForm(both, "boxes left, axes [s.ts in [(r.ts + 5), (r.ts + 5)], s.te in (r.te, inf)]")(
    "s.ts - r.ts = 5 AND s.te > r.te")
  sameForm(
    both,
    "boxes right, axes [r.x in [(CAST(s.x AS DECIMAL(20,0)) * 0.9BD), " +
      "(CAST(s.x AS DECIMAL(20,0)) * 1.25BD)]]")(
    "r.x BETWEEN s.x * 0.9 AND s.x * 1.25",
    "NOT (r.x < s.x * 0.9 OR r.x > s.x * 1.25)",
    "r.x >= s.x * 0.9 AND s.x * 1.25 >= r.x")
  // An expression that may fail becomes a bound, not a point. The bound is open where it fails.
  sameForm(
    both,
    "boxes left, axes [s.ts in [((r.ts * r.k) + 1), inf)], residual ((r.ts * r.k) < s.ts)")(
    "r.ts * r.k < s.ts")

  // A guard stays in the residual together with the condition that it protects from an error.
  sameForm(
    both,
    "boxes left, axes [s.ts in [r.ts, inf)], " +
      "residual CASE WHEN (r.ts <= s.ts) THEN ((r.k * s.k) = 3) END")(
    "CASE WHEN r.ts <= s.ts THEN r.k * s.k = 3 END")

  // Arithmetic that wraps: the range in which the bounds are valid, and everything beyond it.
  sameForm(
    legacy,
    "boxes left, axes [s.ts in [r.ts, (r.ts + 5)]], " +
      "boxes left, axes [s.ts in (greatest((r.ts + 2147483647), (r.ts - 1)), inf)], " +
      "residual ((s.ts - r.ts) <= 5)")("s.ts - r.ts <= 5 AND r.ts <= s.ts")
  sameForm(
    legacy,
    "boxes left, axes [s.ts in [r.ts, (r.ts + 5)]]")("s.ts BETWEEN r.ts AND r.ts + 5")

  private val dates = Tables("d DATE, t TIMESTAMP", "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ")
  sameForm(dates, "boxes left, axes [s.d in [r.d, (r.d + 5)]]")(
    "s.d - r.d <= INTERVAL '5' DAY AND s.d >= r.d",
    "s.d - r.d BETWEEN INTERVAL '0' DAY AND INTERVAL '143' HOUR",
    "s.d - r.d < INTERVAL '6' DAY AND r.d - s.d <= INTERVAL '1' HOUR",
    "iseql_before(r.d, r.d, s.d, s.d, INTERVAL '5' DAY)")
  sameForm(dates, "boxes left, axes [s.d in [r.d, date_add(r.d, 5)]]")(
    "s.d BETWEEN r.d AND r.d + 5",
    "s.d BETWEEN r.d AND date_add(r.d, 5)")
  sameForm(dates, "boxes left, axes [s.t in [r.t, (r.t + 3600000000)]]")(
    "s.t - r.t BETWEEN INTERVAL '0' HOUR AND INTERVAL '1' HOUR",
    "s.t - INTERVAL '1' HOUR <= r.t AND s.t >= r.t",
    "iseql_before(r.t, r.t, s.t, s.t, INTERVAL '1' HOUR)")

  sameForm(
    dates,
    "boxes left, axes [s.t in [r.t, (r.t + 300000001)]], residual " +
      "(timestampdiff(MINUTE, r.t, s.t) <= 4L)")(
    "s.t >= r.t AND timestampdiff(MINUTE, r.t, s.t) <= 4L")

  // The clock on the wall may differ from the time elapsed by up to two hours.
  sameForm(
    dates.copy(zone = "Europe/Berlin"),
    "boxes left, axes [s.t in [r.t, (r.t + 11192000000)]], " +
      "residual ((s.t - r.t) <= INTERVAL '0 01:00:00' DAY TO SECOND)")(
    "s.t >= r.t AND s.t - r.t <= INTERVAL '0 01:00:00' DAY TO SECOND")

  test("the planner may choose the boxes where the condition leaves the choice") {
    val sql = "allen_overlaps(r.ts, r.te, s.ts, s.te)"
    assert(both.form(sql, Some(RightSide)) ==
      "boxes right, axes [r.te in (s.ts, s.te), r.ts in (-inf, s.ts)]")
    val sided = "r.ts <= s.ts AND s.ts < r.te"
    assert(both.form(sided, Some(RightSide)) == both.form(sided))
  }

  test("a side is sorted by its points, or else by where its boxes begin") {
    def sorted(sql: String): (String, String) = {
      val sweep = both.analyze(both.condition(sql)).toOption.get
      def by(side: Side): String = sweep.endpoints(side)(sweep.sortEndpoint(side)).sql
      (by(LeftSide), by(RightSide))
    }
    assert(sorted("interval_intersects(r.ts, r.te, s.ts, s.te)") == ("r.ts", "s.ts"))
    assert(sorted("allen_during(r.ts, r.te, s.ts, s.te)") == ("r.te", "s.ts"))
    assert(sorted("s.ts BETWEEN r.te AND r.ts") == ("r.te", "s.ts"))
    assert(sorted("r.ts > s.te") == ("r.ts", "s.te"))
  }
}
