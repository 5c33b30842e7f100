package org.apache.spark.sql.intervalsweep.condition

/** One meaning has one form, however it is spelt. */
class SpellingsSuite extends ConditionSupport {

  private val schema = "k INT, ts INT, te INT, x BIGINT"
  private val tables = Tables(schema, schema)

  private def sameForm(form: String)(spellings: String*): Unit = spellings.foreach { sql =>
    test(s"$sql: $form") {
      assert(tables.form(sql) == form)
    }
  }

  sameForm("boxes left, axes [s.ts in [r.ts, r.te)]")(
    "r.ts <= s.ts AND s.ts < r.te",
    "s.ts >= r.ts AND r.te > s.ts",
    "NOT (s.ts < r.ts) AND NOT (s.ts >= r.te)",
    "NOT (s.ts < r.ts OR s.ts >= r.te)",
    "NOT (NOT (r.ts <= s.ts)) AND s.ts < r.te",
    "CAST(s.ts AS BIGINT) >= CAST(r.ts AS BIGINT) AND r.te > s.ts")
  sameForm("print")("s.ts BETWEEN r.ts AND r.ts + 5", "s.ts - r.ts <= 5 AND r.ts <= s.ts", 
    "s.ts <= r.ts + 5 AND s.ts >= r.ts", "s.ts - 5 <= r.ts AND s.ts >= r.ts", "r.ts - s.ts >= -5 AND s.ts >= r.ts",
    "abs(r.ts - s.ts) <= 5", "s.ts = r.ts + 5", "s.ts - r.ts = 5 and s.te > r.te",
    "allen_overlaps(r.ts, r.te, s.ts, s.te)", "interval_intersects(r.ts, r.te, s.ts, s.te)", "allen_during(r.ts, r.te, s.ts, s.te)",
    "allen_starts(r.ts, r.te, s.ts, s.te)","allen_equals(r.ts, r.te, s.ts, s.te)",
    "iseql_left_overlap(r.ts, r.te, s.ts, s.te, 5, 7)", "iseql_during(r.ts, r.te, s.ts, s.te, delta => 5)",
    "iseql_before(r.ts, r.te, s.ts, s.te, 5) and r.k = s.k", "r.k = s.k and r.ts < s.ts",
    "r.k = s.k and r.ts < s.ts and r.te < s.te", "r.ts < s.ts", "r.x * 2 < s.x and s.x < r.x", "r.k <=> s.k and r.ts < s.te and s.ts < r.te",
    "r.k = s.k")
}
