// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.intervalsweep.condition.ConditionSupport

/** Each reason for which a condition has no sweep. */
class WhyNotSuite extends ConditionSupport {

  private val schema = "k INT, ts INT, te INT, name STRING, d DOUBLE, " +
    "c STRING COLLATE UTF8_LCASE, some ARRAY<INT>"
  private val tables = Tables(schema, schema + ", i INTERVAL DAY")

  private def reason(sql: String)(matching: PartialFunction[WhyNot, Boolean]): Unit = test(sql) {
    val why = tables.whyNot(sql)
    assert(matching.lift(why).contains(true), why.message)
    assert(why.explanation.nonEmpty && why.advice.nonEmpty)
  }

  /** Whether a reason names this conjunct, as the condition has it. */
  private def about(conjunct: String)(why: WhyNot): Boolean =
    why.conjunct.map(_.sql).contains(conjunct)

  private val meets = "allen_meets(r.ts, r.te, s.ts, s.te)"
  private val names = "allen_overlaps(r.c, r.c, s.c, s.c)"

  reason("r.k = s.k") { case w: WhyNot.OnlyEqualities => about("(r.k = s.k)")(w) }
  reason("r.ts < 5 AND r.k = s.k") { case w: WhyNot.OnlyEqualities => about("(r.k = s.k)")(w) }
  reason("allen_equals(r.ts, r.te, s.ts, s.te) AND r.k <=> s.k") {
    case w: WhyNot.OnlyEqualities =>
      about("(allen_equals(r.ts, r.te, s.ts, s.te) AND (r.k <=> s.k))")(w)
  }
  reason("allen_meets(r.name, r.name, s.name, s.name)") {
    case w: WhyNot.OnlyEqualities => about("allen_meets(r.name, r.name, s.name, s.name)")(w)
  }
  reason(s"r.k = s.k AND $meets") {
    case w: WhyNot.OnlyEqualities => about(s"((r.k = s.k) AND $meets)")(w)
  }
  reason("r.k = s.k AND (r.ts < s.ts OR r.te < s.te)") {
    case w: WhyNot.Disjunction => about("((r.ts < s.ts) OR (r.te < s.te))")(w)
  }
  reason("r.k = s.k AND r.ts < 5 AND r.ts <> s.ts") {
    case w: WhyNot.NoRange => about("(NOT (r.ts = s.ts))")(w)
  }
  reason("NOT coalesce(r.ts = s.ts, false)") {
    case w: WhyNot.NoRange => about("(NOT coalesce((r.ts = s.ts), false))")(w)
  }
  reason("r.ts = s.ts OR r.ts IS NULL OR s.ts IS NULL") { case _: WhyNot.Disjunction => true }
  reason("CASE WHEN r.k = s.k THEN r.ts < s.ts ELSE true END") {
    case w: WhyNot.NoRange =>
      about("CASE WHEN (r.k = s.k) THEN (r.ts < s.ts) ELSE true END")(w)
  }
  reason("r.ts < 5") { case w: WhyNot.NoRange => about("(r.ts < 5)")(w) }
  reason("r.k = s.k AND r.ts < s.ts") { case w: WhyNot.WeakRange => about("(r.ts < s.ts)")(w) }
  reason(s"r.k = s.k AND $meets AND r.ts < s.te") {
    case w: WhyNot.WeakRange => about("(r.ts < s.te)")(w)
  }
  reason("r.c < s.c") {
    case w @ WhyNot.UnsupportedEndpoint(e, _) => e.sql == "r.c" && about("(r.c < s.c)")(w)
  }
  reason(names) {
    case w @ WhyNot.UnsupportedEndpoint(e, _) => e.sql == "r.c" && about(names)(w)
  }
  reason("struct(r.some, r.ts) < struct(s.some, s.ts)") {
    case WhyNot.UnsupportedEndpoint(e, _) =>
      e.dataType.sql.startsWith("STRUCT<some: ARRAY<INT>")
  }
  reason("CAST(r.name AS INT) < CAST(s.name AS INT)") {
    case w @ WhyNot.MayFail(e, _) =>
      e.sql == "CAST(r.name AS INT)" && about("(CAST(r.name AS INT) < CAST(s.name AS INT))")(w)
  }
  reason("r.ts * s.ts < 5") {
    case w @ WhyNot.CrossSide(e, _) =>
      e.sql == "(r.ts * s.ts)" && about("((r.ts * s.ts) < 5)")(w)
  }
  reason("r.d * s.d < 5D") {
    case w @ WhyNot.CrossSide(e, _) => e.sql == "(r.d * s.d)" && about("((r.d * s.d) < 5.0D)")(w)
  }
  reason("lower(r.c) = lower(s.c) AND r.ts < s.te AND s.ts < r.te") {
    case w @ WhyNot.UnorderableKeys(e, _) =>
      e.sql == "lower(r.c)" && about("(lower(r.c) = lower(s.c))")(w)
  }
  reason("r.ts < s.ts + rand()") {
    case w: WhyNot.NonDeterministic => w.conjunct.exists(_.sql.contains("rand"))
  }

  test("keys with one inequality are swept if a function asks for it, or with a second one") {
    Seq(
      "r.k = s.k AND allen_before(r.ts, r.te, s.ts, s.te)",
      "r.k = s.k AND r.ts < s.ts AND r.te < s.te",
      "r.k = s.k AND r.ts < s.te AND r.te > s.ts",
      "r.k = s.k AND s.ts - r.ts BETWEEN 0 AND 5").foreach(tables.form(_))
  }
}
