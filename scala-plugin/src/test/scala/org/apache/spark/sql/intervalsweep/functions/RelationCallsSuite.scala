// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

class RelationCallsSuite extends AnyFunSuite with FunctionsSession {

  private val endpoints = "r.ts, r.te, s.ts, s.te"
  // Comparisons per query: a query takes longer than a further column.
  private val atOnce = 8

  /** A table of all pairs of intervals whose endpoints are among the values, given as SQL. */
  private def withPairs(values: String*)(body: => Unit): Unit = {
    val list = values.mkString("VALUES (", "), (", ")")
    spark.sql(
      s"""CREATE OR REPLACE TEMP VIEW pairs AS WITH x(v) AS ($list)
         |SELECT named_struct('ts', a.v, 'te', b.v) r, named_struct('ts', c.v, 'te', d.v) s
         |FROM x a, x b, x c, x d""".stripMargin)
    body
  }

  /** Asserts that each function equals the formula next to it for every pair, NULL included. */
  private def assertSame(functionsAndFormulas: Seq[(String, String)]): Unit =
    functionsAndFormulas.grouped(atOnce).foreach { some =>
      val differing = some.map { case (function, formula) =>
        s"first(struct(r, s)) FILTER (WHERE NOT ($function <=> ($formula)))"
      }
      val found = rows(s"SELECT ${differing.mkString(", ")} FROM pairs").head
      some.zipWithIndex.foreach { case ((function, formula), number) =>
        assert(found.isNullAt(number), s"$function differs from $formula for ${found.get(number)}")
      }
    }

  private def formula(relation: Relation, bounds: (String, String)*): String =
    (relation.formula.map(_.toString) ++ bounds.map { case (distance, limit) =>
      s"$distance <= $limit"
    }).mkString(" AND ")

  private def limits(
      relation: Relation,
      values: String*): Seq[Seq[(String, EndpointDistance, String)]] =
    values.map(v => relation.parameters.map { case (name, distance) => (name, distance, v) })
      .filter(_.nonEmpty)

  test("every relation is its formula, in three-valued logic") {
    withPairs("0", "1", "2", "NULL") {
      withAndWithoutCodegen { _ =>
        assertSame(Relations.all.flatMap { relation =>
          (s"${relation.name}($endpoints)", formula(relation)) +:
            limits(relation, "0", "1", "CAST(r.ts AS BIGINT)").map { given =>
              val arguments = given.map { case (name, _, v) => s", $name => $v" }.mkString
              val bounds = given.map { case (_, distance, v) => distance.toString -> v }
              (s"${relation.name}($endpoints$arguments)", formula(relation, bounds: _*))
            }
        })
      }
    }
  }

  test("every inverse is the relation with the operands swapped") {
    withPairs("0", "1", "2", "NULL") {
      assertSame(Relations.all.map { relation =>
        val parameters = relation.parameters.map { case (name, _) => s", $name => 1" }.mkString
        (s"${relation.name}(r, s$parameters)", s"${relation.inverse}(s, r$parameters)")
      })
    }
  }

  private val types = Seq(
    "TINYINT" -> Seq("CAST(-128 AS TINYINT)", "CAST(0 AS TINYINT)", "CAST(127 AS TINYINT)"),
    "SMALLINT" -> Seq("CAST(-32768 AS SMALLINT)", "CAST(0 AS SMALLINT)", "CAST(32767 AS SMALLINT)"),
    "INT" -> Seq("-2147483648", "0", "2147483647"),
    "BIGINT" -> Seq("-9223372036854775808L", "0L", "9223372036854775807L"),
    "FLOAT" -> Seq("FLOAT('-Infinity')", "FLOAT('-0.0')", "FLOAT('0.0')", "FLOAT('NaN')"),
    "DOUBLE" -> Seq("DOUBLE('Infinity')", "-0.0D", "0.0D", "DOUBLE('NaN')"),
    "DECIMAL(18,2)" ->
      Seq("-9999999999999999.99BD", "CAST(0 AS DECIMAL(18,2))", "9999999999999999.99BD"),
    "DECIMAL(38,0)" -> Seq(s"-${"9" * 38}BD", "CAST(0 AS DECIMAL(38,0))", s"${"9" * 38}BD"),
    "DATE" -> Seq("DATE'0001-01-01'", "DATE'2024-02-29'", "DATE'9999-12-31'"),
    "TIMESTAMP" -> Seq("TIMESTAMP'0001-01-01'", "TIMESTAMP'2024-02-29'", "TIMESTAMP'9999-12-31'"),
    "TIMESTAMP_NTZ" -> Seq("TIMESTAMP_NTZ'0001-01-01'", "TIMESTAMP_NTZ'9999-12-31'"),
    "STRING" -> Seq("''", "'a'", "'B'", "'\u00e4'"),
    "BOOLEAN" -> Seq("true", "false"),
    "BINARY" -> Seq("X'00'", "X'FF'"),
    "INTERVAL" -> Seq("INTERVAL '1' DAY", "INTERVAL '-1' DAY"),
    "mixed numbers" -> Seq("CAST(1 AS TINYINT)", "1.5BD", "1.5D"),
    "dates and times" -> Seq("DATE'2024-02-29'", "TIMESTAMP'2024-02-29 00:00:01'"))

  types.foreach { case (name, values) =>
    test(s"endpoints of type $name compare as Spark compares them") {
      withPairs(values :+ "NULL": _*) {
        withAndWithoutCodegen { _ =>
          assertSame(Seq("ALLEN_OVERLAPS", "ALLEN_EQUALS", "ISEQL_DURING").map(Relations.named)
            .map(relation => (s"${relation.name}(r, s)", formula(relation))))
        }
      }
    }
  }

  Seq("true", "false").foreach { ansi =>
    test(s"the endpoints are brought to one type as for GREATEST, ANSI $ansi") {
      withConf(SQLConf.ANSI_ENABLED.key -> ansi) {
        // The common type of INT and FLOAT is FLOAT without ANSI, and DOUBLE with ANSI.
        assert(value("ALLEN_MEETS(0, 16777217, 16777217L, 20000000)") == true)
        assert(value("ALLEN_MEETS(0, 16777217, FLOAT(16777216), 20000000)") == (ansi == "false"))
        assert(value("ALLEN_MEETS(0, 1.50BD, 1.5BD, 2)") == true)
        assert(value(
          "ALLEN_MEETS(DATE'2024-01-01', DATE'2024-01-02', TIMESTAMP'2024-01-02', NULL)") == true)
        assert(value("ALLEN_BEFORE(NULL, NULL, NULL, NULL)") == null)
        assert(value("ALLEN_BEFORE(NULL, 1, 2, NULL)") == true)
      }
    }
  }

  Seq("true", "false").foreach { ansi =>
    test(s"strings next to dates and times are cast as in comparisons, ANSI $ansi") {
      withConf(SQLConf.ANSI_ENABLED.key -> ansi) {
        val table =
          "VALUES (DATE'2024-01-01', TIMESTAMP'2024-01-02 12:00:00', '2024-01-02') t(d, t, x)"
        Seq(
          "ALLEN_MEETS(d, d, '2024-01-01', '2024-01-03')" -> true,
          "ALLEN_MEETS(d, x, t - INTERVAL '12' HOUR, t)" -> true,
          "ALLEN_BEFORE('2023-01-01', x, t, '2024-01-02 13:00:00')" -> true,
          "ALLEN_BEFORE('2023-01-01', '2024-01-02 12:00:00', t, x)" -> false,
          "ALLEN_MEETS(struct('2024-01-01', x), struct(t - INTERVAL '12' HOUR, NULL))" -> true,
          "ISEQL_BEFORE(d, '2024-01-01', '2024-01-04', d, delta => 2)" -> false,
          "ISEQL_BEFORE(d, '2024-01-01', '2024-01-04', d, delta => 3)" -> true).foreach {
          case (call, expected) =>
            assert(rows(s"SELECT $call FROM $table").head.get(0) == expected, call)
        }
        // Also as in comparisons: a malformed string is an error with ANSI, and NULL without.
        def malformed: Any = rows(s"SELECT ALLEN_MEETS(d, 'x', d, d) FROM $table").head.get(0)
        if (ansi == "true") assert(intercept[Exception](malformed).getMessage.contains("'x'"))
        else assert(malformed == null)
      }
    }
  }

  test("strings of two collations compare by the explicit one") {
    assert(value("ALLEN_MEETS('a', 'B' COLLATE UTF8_LCASE, 'b', 'c')") == true)
    assert(value("ALLEN_MEETS('a', 'B', 'b', 'c')") == false)
  }

  test("a time zone that a cast needs is the session's") {
    Seq("UTC" -> false, "Asia/Tokyo" -> true).foreach { case (zone, expected) =>
      withConf(SQLConf.SESSION_LOCAL_TIMEZONE.key -> zone) {
        val call =
          "ALLEN_MEETS(DATE'2024-01-01', DATE'2024-01-02', TIMESTAMP'2024-01-01 15:00:00Z', NULL)"
        assert(value(call) == expected, zone)
      }
    }
  }

  test("NULL is neither more nor less than the formula says") {
    assert(value("NOT ALLEN_OVERLAPS(NULL, 5, 6, 7)") == true)
    assert(value("coalesce(ALLEN_OVERLAPS(NULL, 5, 2, 7), true)") == true)
    assert(value("coalesce(ALLEN_OVERLAPS(NULL, 5, 6, 7), true)") == false)
    assert(value("ALLEN_OVERLAPS(NULL, 5, 2, 7)") == null)
  }

  test("parameters by position and by name") {
    val forms = Seq(
      "1, 2" -> false,
      "1, 3" -> true,
      "0" -> false,
      "1" -> true,
      "" -> true,
      "delta => 1, epsilon => 2" -> false,
      "epsilon => 2" -> false,
      "epsilon => 3, delta => 1" -> true,
      "EPSILON => 3" -> true,
      "1, epsilon => 2" -> false,
      "1 - 1" -> false)
    withPairs("0") {
      for ((form, expected) <- forms) {
        val parameters = if (form.isEmpty) "" else s", $form"
        assert(value(s"ISEQL_LEFT_OVERLAP(1, 3, 2, 6$parameters)") == expected, form)
        val structs = "named_struct('a', 1, 'b', 3), named_struct('c', 2L, 'd', 6)"
        assert(value(s"ISEQL_LEFT_OVERLAP($structs$parameters)") == expected, form)
      }
    }
    assert(value("ISEQL_END_FOLLOWING(2, 6, 1, 4, 1)") == false)
    assert(value("ISEQL_END_FOLLOWING(2, 6, 1, 4, 2)") == true)
  }

  test("a NULL from a column makes the bound NULL") {
    val table = "VALUES (1, CAST(NULL AS INT), 4), (1, NULL, 1) t(te, d, ts)"
    assert(rows(s"SELECT ISEQL_BEFORE(0, te, ts, 9, d) FROM $table").map(_.get(0)) ==
      Seq(null, null))
    assert(value(
      "ISEQL_BEFORE(0, te, ts, 9, d) FROM VALUES (5, CAST(NULL AS INT), 4) t(te, d, ts)") == false)
  }

  test("a bound is exact in the integers") {
    val (low, high) = ("-9223372036854775808L", "9223372036854775807L")
    assert(value(s"ISEQL_BEFORE($low, $low, $high, $high, $high)") == false)
    assert(value(s"ISEQL_BEFORE($low, $low, $high, $high, 18446744073709551615BD)") == true)
    assert(value(s"ISEQL_BEFORE($low, $low, $high, $high, 1e30)") == true)
    assert(value("ISEQL_BEFORE(0, 0, 2, 2, 1.9)") == false)
    assert(value("ISEQL_BEFORE(0, 0, 2, 2, 2.1)") == true)
    assert(value("ISEQL_BEFORE(0, 0.10, 0.35, 2, 0.249)") == false)
    assert(value("ISEQL_BEFORE(0, 0.10, 0.35, 2, 0.25)") == true)
  }

  test("infinite differences exceed every parameter") {
    assert(value("ISEQL_BEFORE(0D, 0D, DOUBLE('Infinity'), 2D, DOUBLE('Infinity'))") == false)
    assert(value("ISEQL_BEFORE(0D, 0D, DOUBLE('NaN'), 2D, DOUBLE('NaN'))") == false)
    assert(value("ISEQL_BEFORE(0D, 0D, 1e300, 2D, DOUBLE('Infinity'))") == true)
  }

  test("DATE: days as a number or an INTERVAL, or months on the calendar") {
    val call = "ISEQL_BEFORE(DATE'2024-01-01', DATE'2024-01-31', DATE'2024-02-29', DATE'2024-03-01'"
    Seq(
      "29" -> true,
      "28" -> false,
      "INTERVAL '29' DAY" -> true,
      "INTERVAL '28' DAY" -> false,
      "INTERVAL '1' MONTH" -> true,
      "INTERVAL '0' MONTH" -> false,
      "INTERVAL '1' YEAR" -> true,
      "DATE'2024-02-29' - DATE'2024-01-31'" -> true).foreach { case (parameter, expected) =>
      assert(value(s"$call, $parameter)") == expected, parameter)
    }
    assert(value(
      "ISEQL_BEFORE(DATE'2024-01-01', DATE'-5877641-06-23', DATE'+5881580-07-11', NULL, 5)") ==
      false)
  }

  test("TIMESTAMP: elapsed time, also across a change of clocks") {
    withConf(SQLConf.SESSION_LOCAL_TIMEZONE.key -> "Europe/Berlin") {
      val call =
        "ISEQL_BEFORE(NULL, TIMESTAMP'2024-03-30 12:00:00', TIMESTAMP'2024-03-31 12:00:00', NULL"
      assert(value(s"$call, INTERVAL '23' HOUR)") == true)
      assert(value(s"$call, INTERVAL '22:59:59.999999' HOUR TO SECOND)") == false)
      assert(value(s"$call, INTERVAL '1' DAY)") == true)
    }
    val ntz =
      "ISEQL_BEFORE(NULL, TIMESTAMP_NTZ'2024-03-30 12:00:00', TIMESTAMP_NTZ'2024-03-31 12:00:00', NULL"
    assert(value(s"$ntz, INTERVAL '23' HOUR)") == false)
    assert(value(s"$ntz, INTERVAL '24' HOUR)") == true)
  }

  test("TIMESTAMP: months are added on the calendar of the session that wrote the query") {
    def call(earlier: String, later: String, dataType: String = "TIMESTAMP"): String =
      s"ISEQL_BEFORE(NULL, $dataType'$earlier', $dataType'$later', NULL, INTERVAL '1' MONTH)"
    withAndWithoutCodegen { _ =>
      // In Tokyo these are 1 March and 1 April, a month apart. In UTC a month later is 29 March.
      val endsOfMonths = call("2024-02-29 23:30:00Z", "2024-03-31 23:30:00Z")
      Seq("UTC" -> false, "Asia/Tokyo" -> true).foreach { case (zone, expected) =>
        val query = withConf(SQLConf.SESSION_LOCAL_TIMEZONE.key -> zone) {
          spark.sql(s"SELECT $endsOfMonths")
        }
        assert(query.head().get(0) == expected, zone)
      }
      val exact = call("2024-01-31 12:00:00", "2024-02-29 12:00:00", "TIMESTAMP_NTZ")
      assert(value(exact) == true)
      assert(value(exact.replace("29 12:00:00", "29 12:00:01")) == false)
    }
  }

  test("an argument that differs every time is computed once") {
    withAndWithoutCodegen { _ =>
      // If s.ts were computed twice, it could be 2 in r.ts < s.ts and 0 in s.ts < r.te.
      val overlaps = "ALLEN_OVERLAPS(0D, 1D, CAST(rand() < 0.5 AS DOUBLE) * 2, 3D)"
      assert(rows(s"SELECT count(*) FROM range(1000) WHERE $overlaps").head.getLong(0) == 0)
      assert(rows(s"SELECT $overlaps FROM range(100)").forall(_.getBoolean(0) == false))
      val period = "named_struct('ts', CAST(rand() < 0.5 AS DOUBLE) * 2, 'te', 3D)"
      assert(
        rows(s"SELECT ALLEN_OVERLAPS(named_struct('ts', 0D, 'te', 1D), $period) FROM range(100)")
          .forall(_.getBoolean(0) == false))
      assert(value("ALLEN_BEFORE(rand(), 1, 2, rand())") == true)
    }
  }

  test("wherever a Boolean may stand") {
    withPairs("0", "1", "2") {
      val before = "ALLEN_BEFORE(a.r, b.s)"
      Seq(
        "SELECT count_if(ALLEN_MEETS(r, s)) FROM pairs" -> 27L,
        "SELECT count(CASE WHEN ALLEN_MEETS(r, s) THEN 1 END) FROM pairs" -> 27L,
        "SELECT r.te FROM pairs GROUP BY r.te HAVING ALLEN_MEETS(0, r.te, 2, max(s.te))" -> 2,
        s"SELECT count(*) FROM pairs a JOIN pairs b ON $before" -> 3 * 27L * 27L,
        s"SELECT count(*) FROM pairs a WHERE EXISTS (SELECT 1 FROM pairs b WHERE $before)" ->
          54L).foreach { case (query, expected) =>
        assert(rows(query).map(_.get(0)) == Seq(expected), query)
      }
    }
  }

  test("a parameter may be a subquery, or a marker") {
    withAndWithoutCodegen { _ =>
      val call = "SELECT ISEQL_BEFORE(0, 1, id, 9, delta"
      assert(rows(s"$call => (SELECT max(id) FROM range(3))) FROM range(5, 6)").head.get(0) ==
        false)
      assert(rows(s"$call => (SELECT max(id) FROM range(5))) FROM range(5, 6)").head.get(0) == true)
      Seq(4 -> true, 3 -> false).foreach { case (delta, expected) =>
        val query = spark.sql(s"$call => :delta) FROM range(5, 6)", Map("delta" -> delta))
        assert(query.head().get(0) == expected, s"$delta")
      }
    }
  }

  test("the worked example of the papers") {
    val join =
      "SELECT r.id || s.id FROM VALUES ('r0', 0, 1), ('r1', 1, 3), ('r2', 2, 5) r(id, ts, te), " +
        "VALUES ('s1', 1, 3), ('s2', 3, 4) s(id, ts, te) WHERE ISEQL_BEFORE(r.ts, r.te, s.ts, s.te"
    assert(rows(s"$join, delta => 1)").map(_.getString(0)).sorted == Seq("r0s1", "r1s2"))
    assert(rows(s"$join)").map(_.getString(0)).sorted == Seq("r0s1", "r0s2", "r1s2"))
  }

  test("it reads in EXPLAIN as it was written") {
    withPairs("0") {
      val plan = spark.sql("SELECT * FROM range(3) r(ts) WHERE ISEQL_BEFORE(ts, ts, ts, ts, 5)")
        .queryExecution.optimizedPlan.toString
      assert(
        "iseql_before\\(id#\\d+L, id#\\d+L, id#\\d+L, id#\\d+L, delta => 5\\)".r.findFirstIn(
          plan).isDefined,
        plan)
    }
    val column =
      spark.sql("SELECT ISEQL_BEFORE(ts, ts, ts, ts, 5) FROM range(3) r(ts)").columns.head
    assert(column == "iseql_before(ts, ts, ts, ts, delta => 5)")
  }

  test("an alias is the relation, and EXPLAIN shows the name of the relation") {
    assert(Relations.all.flatMap(_.aliases) == Seq("INTERVAL_OVERLAPS"))
    withPairs("0", "1", "2", "NULL") {
      assertSame(for (relation <- Relations.all; alias <- relation.aliases)
        yield (s"$alias($endpoints)", formula(relation)))
    }
    val text = rows("DESCRIBE FUNCTION EXTENDED interval_overlaps").map(_.getString(0)).mkString
    assert(text.contains("Another name of `interval_intersects`."))
    val plan = spark.sql("SELECT * FROM range(3) r(ts) WHERE INTERVAL_OVERLAPS(ts, ts, ts, ts)")
    assert(plan.queryExecution.analyzed.toString.contains("interval_intersects("))
  }

  Relations.all.foreach { relation =>
    test(s"DESCRIBE FUNCTION EXTENDED ${relation.name}") {
      val text = rows(
        s"DESCRIBE FUNCTION EXTENDED ${relation.functionName}").map(_.getString(0)).mkString("\n")
      val wanted =
        Seq("Usage:", "Arguments:", "Examples:", "Note:", "Since: 0.1.0", relation.summary) ++
          relation.formula.map(_.toString) ++ relation.parameters.map { case (name, d) =>
            s"$d <= $name"
          }
      wanted.foreach(part => assert(text.contains(part), s"no $part in $text"))
      assert(!text.contains("_FUNC_"))

      val examples = "> SELECT (.*);\n *(true|false)\n".r.findAllMatchIn(text).toSeq
      assert(examples.nonEmpty)
      examples.foreach(e => assert(value(e.group(1)).toString == e.group(2), e.group(1)))
    }
  }
}
