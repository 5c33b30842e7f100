package org.apache.spark.sql.intervalsweep.condition

/** Each reason for which a condition is no sweep. */
class WhyNotSuite extends ConditionSupport {

  private val schema = "k INT, ts INT, te INT, name STRING, big DECIMAL(20, 2), d DOUBLE"
  private val tables = Tables(schema, schema + ", i INTERVAL DAY")

  private def reason(sql: String)(matching: PartialFunction[WhyNot, Boolean]): Unit = test(sql) {
    val why = tables.whyNot(sql)
    assert(matching.lift(why).contains(true), why.message)
    assert(why.message.nonEmpty)
  }

  reason("r.k = s.k")(_ == WhyNot.NoRange)
  reason("r.ts < 5 AND r.k = s.k")(_ == WhyNot.NoRange)
  reason("r.ts < s.ts OR r.te < s.te")(_ == WhyNot.NoRange)
  reason("r.ts <> s.ts")(_ == WhyNot.NoRange)
  reason("allen_equals(r.ts, r.te, s.ts, s.te)")(_ == WhyNot.OnlyEqualities("ALLEN_EQUALS"))
  reason("r.k = s.k AND allen_meets(r.ts, r.te, s.ts, s.te)") {
    _ == WhyNot.OnlyEqualities("ALLEN_MEETS")
  }
  reason("r.k = s.k AND r.ts < s.ts")(_ == WhyNot.WeakRange)
  reason("allen_meets(r.ts, r.te, s.ts, s.te) AND r.k < s.k")(_ == WhyNot.WeakRange)
  reason("r.name < s.name") { case WhyNot.UnsupportedEndpoint(e, _) => e.sql == "r.name" }
  reason("allen_overlaps(r.name, r.name, s.name, s.name)") {
    case WhyNot.UnsupportedEndpoint(e, _) => e.sql == "r.name"
  }
  reason("r.big < s.big") { case WhyNot.UnsupportedEndpoint(_, t) => t.sql == "DECIMAL(20,2)" }
  reason("r.ts * s.ts < 5") { case WhyNot.CrossSide(e) => e.sql == "(r.ts * s.ts)" }
  reason("r.d - s.d < 5D") { case WhyNot.CrossSide(e) => e.sql == "(r.d - s.d)" }
  reason("r.ts < s.ts + rand()") {
    case WhyNot.NonDeterministic(e) => e.sql.contains("rand")
  }

  test("keys with one inequality are swept if a function asks for it, or with a second one") {
    Seq(
      "r.k = s.k AND allen_before(r.ts, r.te, s.ts, s.te)",
      "r.k = s.k AND r.ts < s.ts AND r.te < s.te",
      "r.k = s.k AND r.ts < s.te AND r.te > s.ts",
      "r.k = s.k AND s.ts - r.ts BETWEEN 0 AND 5").foreach(tables.form(_))
  }
}
