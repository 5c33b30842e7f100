// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import java.time.{Instant, LocalDate, LocalDateTime, ZoneOffset}

import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.functions.{Relation, Relations}

/** Every function with every type of endpoint: the sweeps match the same pairs as the formula. */
class RelationsExactSuite extends ConditionSupport {

  private def instant(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000)

  private def dateTime(micros: Long): LocalDateTime =
    LocalDateTime.ofInstant(instant(micros), ZoneOffset.UTC)

  private val hour = 3600000000L

  /** For each type: its extremes, special values and some values that are close; parameters. */
  private val types: Seq[(String, Seq[Any], Seq[String])] = Seq(
    ("SMALLINT", Seq[Short](Short.MinValue, -1, 0, 1, 2, Short.MaxValue), Seq("0", "1", "2.5D")),
    ("INT", Seq(Int.MinValue, -1, 0, 1, 2, Int.MaxValue), Seq("1", "1.99", "4294967295L")),
    ("BIGINT", Seq(Long.MinValue, -1L, 0L, 1L, 2L, Long.MaxValue), Seq("1", s"${Long.MaxValue}L")),
    (
      "DATE",
      Seq(Int.MinValue, -1, 0, 1, 31, Int.MaxValue).map(d => LocalDate.ofEpochDay(d.toLong)),
      Seq("1", "INTERVAL '31' DAY", "INTERVAL '1' MONTH")),
    (
      "TIMESTAMP",
      Seq(Long.MinValue, -hour, 0L, 1L, hour, Long.MaxValue).map(instant),
      Seq("INTERVAL '1' HOUR", "INTERVAL '1' MONTH")),
    (
      "TIMESTAMP_NTZ",
      Seq(Long.MinValue, -hour, 0L, 1L, hour, Long.MaxValue).map(dateTime),
      Seq("INTERVAL '1' HOUR", "INTERVAL '1' MONTH")),
    (
      "FLOAT",
      Seq(-1.5f, -0.0f, 0.0f, 0.1f, Float.MaxValue, Float.PositiveInfinity, Float.NaN),
      Seq("0", "0.1D", "CAST('NaN' AS DOUBLE)")),
    (
      "DOUBLE",
      Seq(Double.NegativeInfinity, -0.0, 0.0, 0.1, 0.3, Double.MaxValue, Double.NaN),
      Seq("0.1", "0.2D", "CAST('Infinity' AS DOUBLE)")),
    (
      "DECIMAL(18, 2)",
      Seq("-9999999999999999.99", "-1", "0", "0.01", "1.5", "9999999999999999.99")
        .map(new java.math.BigDecimal(_)),
      Seq("1", "0.019")),
    (
      "DECIMAL(5, 1)",
      Seq("-9999.9", "0", "0.1", "9999.9").map(new java.math.BigDecimal(_)),
      Seq("0.1"))) ++ byPrefix

  /**
   * Types with several values for one prefix. Decimals have prefixes if their unscaled value is
   * 2^62 or more.
   */
  private def byPrefix: Seq[(String, Seq[Any], Seq[String])] = Seq(
    (
      "DECIMAL(38, 2)",
      Seq("-" + "9" * 36 + ".99", "-46116860184273879.05", "0.01", "46116860184273879.03").++(
        Seq("1" + "0" * 30, "1" + "0" * 29 + "1", "1" + "0" * 28 + "20"))
        .map(new java.math.BigDecimal(_).setScale(2)),
      Seq("0.019", "15", "15D", "1e35BD", "CAST('NaN' AS DOUBLE)")),
    (
      "DECIMAL(20, 0)",
      Seq("-4611686018427387904", "0", "4611686018427387903", "9" * 19 + "8", "9" * 20)
        .map(new java.math.BigDecimal(_)),
      Seq("1", "1.5D")),
    (
      "STRING",
      Seq("", "a", "the same", "the same a", "the same b", "\u00e4", "\uffff", "\ud83d\ude00"),
      Nil),
    (
      "BINARY",
      Seq(Seq(), Seq(0), Seq(0x7f), Seq(0x80), Seq.fill(8)(0xff), Seq.fill(9)(0xff))
        .map(_.map(_.toByte).toArray),
      Nil),
    (
      "STRUCT<a: STRING, b: INT>",
      Seq((null, 1), ("", 1), ("a", 2), ("a", null), ("the same a", 1), ("the same b", 0)),
      Nil),
    ("STRUCT<a: INT>", Seq(Tuple1(null), Tuple1(Int.MinValue), Tuple1(0), Tuple1(1)), Nil),
    (
      "STRUCT<a: STRUCT<b: BIGINT>, c: DOUBLE>",
      Seq((null, 1.0), (Tuple1(null), 1.0), (Tuple1(Long.MinValue), -0.0))
        .++(Seq((Tuple1(7L), 0.0), (Tuple1(7L), -0.0), (Tuple1(7L), Double.NaN))),
      Nil))

  for ((sqlType, values, parameters) <- types; ansi <- Seq(true, false)) {
    val tables =
      Tables(s"k INT, ts $sqlType, te $sqlType", s"k INT, ts $sqlType, te $sqlType", ansi)
    val rows = product(Seq(1), values :+ null, values :+ null)

    for (relation <- Relations.all if relation.formula.exists(_.operator.symbol != "="))
      test(s"${relation.name} of $sqlType, ansi $ansi") {
        val matched = calls(relation, parameters).map(tables.assertExact(_, rows, rows))
        assert(matched.sum > 0)
      }
  }

  private def calls(relation: Relation, parameters: Seq[String]): Seq[String] = {
    val names = relation.parameters.map(_._1)
    val bounds = names.toSet.subsets().toSeq.flatMap { chosen =>
      if (chosen.isEmpty) Seq("")
      else parameters.map(p => chosen.map(name => s", $name => $p").mkString)
    }
    bounds.map(g => s"${relation.functionName}(r.ts, r.te, s.ts, s.te$g)")
  }
}
