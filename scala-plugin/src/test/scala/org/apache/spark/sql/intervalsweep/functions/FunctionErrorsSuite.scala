// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

class FunctionErrorsSuite extends AnyFunSuite with FunctionsSession {

  private def assertRefused(call: String, condition: String, parts: String*): Unit = {
    val error = intercept[AnalysisException](spark.sql(s"SELECT $call"))
    assert(error.getCondition == condition, error.getMessage)
    parts.foreach(part => assert(error.getMessage.contains(part), part))
    assert(error.getQueryContext.nonEmpty || error.line.isDefined, "it says where")
  }

  private def refused(call: String, condition: String, parts: String*): Unit =
    test(s"refused: $call")(assertRefused(call, condition, parts: _*))

  private val arity = "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"
  refused(
    "allen_overlaps()",
    arity,
    "`allen_overlaps` requires 4 (r.ts, r.te, s.ts, s.te) or 2 (r, s)",
    "number is 0")
  refused("allen_overlaps(1, 2, 3)", arity, "number is 3")
  refused("allen_overlaps(1, 2)", arity, "number is 2")
  refused("allen_overlaps(1, 2, 3, 4, 5)", arity, "number is 5")
  refused(
    "iseql_before(1, 2, 3, 4, 5, 6)",
    arity,
    "4 to 5 (r.ts, r.te, s.ts, s.te, [delta]) or 2 to 3 (r, s, [delta])")
  refused("iseql_during(1, 2, 3, delta => 1)", arity, "4 to 6", "[delta], [epsilon]")
  refused("allen_overlaps(struct(1, 2), struct(3, 4), 5)", arity, "number is 3")

  refused(
    "iseql_before(1, 2, 3, 4, width => 5)",
    "UNRECOGNIZED_PARAMETER_NAME",
    "`iseql_before`",
    "`width`",
    "`delta`")
  refused(
    "allen_meets(1, 2, 3, 4, delta => 5)",
    "UNRECOGNIZED_PARAMETER_NAME",
    "`allen_meets`",
    "`delta`")
  refused(
    "iseql_before(1, 2, 3, 4, 5, delta => 5)",
    "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED",
    "`iseql_before`",
    "`delta`")
  refused(
    "iseql_before(1, 2, 3, 4, delta => 5, delta => 6)",
    "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
    "`delta`")
  refused("iseql_during(1, 2, 3, 4, delta => 5, 6)", "UNEXPECTED_POSITIONAL_ARGUMENT", "`delta`")

  private val noType = "DATATYPE_MISMATCH.DATA_DIFF_TYPES"
  refused(
    "allen_meets(1, 2, DATE'2024-01-01', 4)",
    noType,
    "allen_meets(1, 2, DATE '2024-01-01', 4)",
    "r.ts \"1\" \"INT\"",
    "s.ts \"DATE '2024-01-01'\" \"DATE\"")
  refused("allen_meets(struct(1, 2), struct(true, 2))", noType, "\"BOOLEAN\"")
  refused(
    "allen_meets(map(1, 2), map(1, 2), map(1, 2), map(1, 2))",
    "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
    "`allen_meets`",
    "\"MAP<INT, INT>\"")

  // GREATEST has no common type for these either, with or without ANSI.
  Seq("true", "false").foreach { ansi =>
    test(s"refused: a string and something else, ANSI $ansi") {
      withConf(SQLConf.ANSI_ENABLED.key -> ansi) {
        assertRefused("allen_meets(1, 2, '2', 3)", noType, "s.ts \"2\" \"STRING\"")
        assertRefused("allen_meets(true, true, 'true', NULL)", noType)
      }
    }
  }

  private val wrongType = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
  refused(
    "allen_meets(struct(1, 2, 3), struct(1, 2))",
    wrongType,
    "`r`",
    "STRUCT of two orderable fields",
    "\"STRUCT<col1: INT NOT NULL")
  refused("allen_meets(struct(1, 2), 3)", wrongType, "`s`", "\"INT\"")
  refused("iseql_before(1, 2, 3, 4, '5')", wrongType, "`delta`", "NUMERIC", "\"5\"", "\"STRING\"")
  refused(
    "iseql_before(1, 2, 3, 4, INTERVAL '1' DAY)",
    wrongType,
    "`delta`",
    "NUMERIC",
    "\"INTERVAL DAY\"")
  refused(
    "iseql_before('1', '2', '3', '4', 5)",
    wrongType,
    "`r.ts`",
    "\"STRING\"",
    "NUMERIC, DATE, TIMESTAMP or TIME")

  private val dates = "DATE'2024-01-01', DATE'2024-01-02', DATE'2024-01-03', DATE'2024-01-04'"
  refused(
    s"iseql_before($dates, 1.5)",
    wrongType,
    "INTEGRAL or INTERVAL DAY or INTERVAL YEAR TO MONTH",
    "DECIMAL(2,1)")
  refused(
    s"iseql_before($dates, INTERVAL '1' HOUR)",
    wrongType,
    "INTERVAL DAY or",
    "\"INTERVAL HOUR\"")
  refused(s"iseql_before($dates, make_interval(0, 0, 0, 1))", wrongType, "\"INTERVAL\"")
  private val times = dates.replace("DATE", "TIMESTAMP")
  refused(
    s"iseql_before($times, 5)",
    wrongType,
    "INTERVAL DAY TO SECOND or INTERVAL YEAR TO MONTH",
    "\"INT\"")
  refused(
    s"iseql_before($times, make_interval(0, 0, 0, 1))",
    wrongType,
    "INTERVAL DAY TO SECOND",
    "\"INTERVAL\"")

  test("refused: a legacy interval literal") {
    withConf(SQLConf.LEGACY_INTERVAL_ENABLED.key -> "true") {
      assertRefused(
        s"iseql_before($times, INTERVAL '1' DAY)",
        wrongType,
        "INTERVAL DAY TO SECOND",
        "\"INTERVAL\"")
    }
  }

  for (parameter <- Seq("NULL", "delta => NULL", "delta => CAST(NULL AS INT)"))
    refused(
      s"iseql_before(1, 2, 3, 4, $parameter)",
      "DATATYPE_MISMATCH.UNEXPECTED_NULL",
      "`delta` (leave it out for no limit) must not be null")

  test("refused: a marker that is NULL") {
    val error = intercept[AnalysisException](
      spark.sql("SELECT iseql_before(1, 2, 3, 4, delta => :delta)", Map("delta" -> null)))
    assert(error.getCondition == "DATATYPE_MISMATCH.UNEXPECTED_NULL", error.getMessage)
  }

  private val negative = "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"
  refused(
    "iseql_before(1, 2, 3, 4, -1)",
    negative,
    "`delta`",
    "[0, infinity)",
    "= -1",
    "iseql_before(1, 2, 3, 4, -1)")
  refused("iseql_before(1, 2, 3, 4, -(1))", negative, "= -1")
  refused("iseql_before(1, 2, 3, 4, delta => 1 - 3)", negative, "= -2", "delta => (1 - 3)")
  refused("iseql_before(1, 2, 3, 4, -0.5)", negative, "= -0.5")
  refused("iseql_before(1, 2, 3, 4, DOUBLE('-Infinity'))", negative, "`delta`")
  refused("iseql_during(1, 2, 3, 4, epsilon => -1)", negative, "`epsilon`")
  refused(s"iseql_before($dates, -1)", negative)
  refused(s"iseql_before($dates, INTERVAL '-1' DAY)", negative, "INTERVAL '-1' DAY")
  refused(s"iseql_before($times, INTERVAL '-1' MONTH)", negative, "INTERVAL '-1' MONTH")
  refused(s"iseql_before($times, - INTERVAL '1' SECOND)", negative, "`delta`")

  test("a constant that throws is left for the query to throw") {
    withConf(SQLConf.ANSI_ENABLED.key -> "true") {
      spark.sql("SELECT iseql_before(1, 2, 3, 4, 1 div 0)")
    }
  }
}
