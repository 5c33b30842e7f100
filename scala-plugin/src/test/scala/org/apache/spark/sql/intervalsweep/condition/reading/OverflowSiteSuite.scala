// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.intervalsweep.condition.ConditionSupport

/** Arithmetic over both sides that wraps or raises errors, with TINYINTs. */
class OverflowSiteSuite extends ConditionSupport {

  private val all = (Byte.MinValue to Byte.MaxValue).map(v => Seq(v.toByte))
  private val few = Seq(-128, -127, -64, -2, -1, 0, 1, 2, 63, 126, 127).map(_.toByte)
  private val some = few.map(v => Seq(v))

  private def assertExact(tables: Tables, sql: String): Unit = {
    tables.assertExact(sql, all, some)
    tables.assertExact(sql, some, all)
  }

  for (ansi <- Seq(true, false)) {
    val one = Tables("t TINYINT", "t TINYINT", ansi)

    for (difference <- Seq("s.t - r.t", "r.t - s.t", "r.t + s.t", "-(r.t + s.t)", "- r.t - s.t");
      operator <- Seq("<=", "<", ">=", ">", "=")) test(s"$difference $operator, ansi $ansi") {
      for (c <- Seq(-128, -1, 0, 63, 127))
        assertExact(one, s"$difference $operator CAST($c AS TINYINT)")
    }

    for (sql <- Seq(
        "s.t - r.t <= r.t",
        "s.t - r.t < s.t + r.t",
        "r.t + s.t >= r.t - s.t",
        "r.t - 5Y <= s.t",
        "r.t - 5Y <= s.t + 3Y",
        "-r.t < s.t",
        "r.t < -s.t",
        "s.t BETWEEN r.t - 5Y AND r.t + 5Y",
        "s.t - 3Y BETWEEN r.t - 5Y AND r.t + 5Y",
        "abs(r.t - s.t) <= 5Y",
        "abs(r.t - s.t) < -5Y",
        "NOT abs(r.t - s.t) > 100Y",
        "100Y >= abs(r.t - s.t)",
        "CAST(r.t - s.t AS SMALLINT) <= 3S",
        "CAST(r.t - s.t AS SMALLINT) - CAST(r.t AS SMALLINT) <= 3S",
        "CAST(r.t AS SMALLINT) - s.t <= 200S",
        "CAST(r.t AS SMALLINT) - s.t <= r.t - s.t",
        "r.t - s.t - s.t <= 3Y",
        "r.t * 2Y < s.t",
        "r.t * 2Y <= s.t AND s.t <= r.t * 3Y",
        "r.t DIV s.t < 3Y AND r.t < s.t",
        "s.t - r.t <= 5Y AND s.t >= r.t",
        "s.t - r.t BETWEEN -5Y AND 5Y AND s.t > r.t",
        "s.t - r.t + 100Y + 100Y <= 7Y AND s.t - r.t - 100Y - 100Y >= -7Y",
        "r.t + 1Y = s.t + 2Y AND r.t BETWEEN s.t - 9Y AND s.t",
        "r.t - s.t = 1Y AND r.t < s.t + s.t")) test(s"$sql, ansi $ansi") {
      assertExact(one, sql)
    }

    val two = Tables("t TINYINT, u TINYINT", "t TINYINT, u TINYINT", ansi)
    val pairs = product(few :+ null, few :+ null)
    for (sql <- Seq(
        "s.t - r.t <= r.u",
        "s.t - r.t <= s.u",
        "s.t - r.t < s.u - r.u",
        "r.t + r.u < s.t",
        "r.t + r.u <= s.t + s.u",
        "s.t - r.t <= s.u AND s.t >= r.t",
        "s.t + s.u - r.t - r.u > 3Y",
        "CAST(s.t AS INT) + s.u - r.t - r.u > 3",
        "s.t - r.t BETWEEN 0Y AND 20Y AND s.u - r.u BETWEEN -3Y AND 3Y",
        "try_add(r.t, s.t) < 5Y AND r.u < s.u",
        "try_add(r.t, r.u) < s.t")) test(s"$sql, ansi $ansi") {
      two.assertExact(sql, pairs, pairs)
    }

    val long = Tables("t BIGINT, u BIGINT", "t BIGINT, u BIGINT", ansi)
    val ends = Seq(Long.MinValue, -2L, 0L, 1L).flatMap(v => Seq(v, v + 1)) :+ Long.MaxValue
    val longs = product(ends ++ Seq(Long.MaxValue - 1, Long.MaxValue / 2), Seq(-1L, 0L, 2L))
    for (sql <- Seq(
        "s.t - r.t <= r.u",
        "s.t - r.t < -5",
        "s.t - r.t BETWEEN r.u AND 5",
        "s.t - r.t BETWEEN -5 AND 5 AND s.t > r.u",
        "abs(s.t - r.t) <= 1 AND s.t <= r.u",
        "s.t - r.t <= 5 AND s.t - r.u >= 2",
        "s.t - r.t = 1",
        "s.t - r.t - r.u <= 2 AND s.u - r.t >= 1",
        "s.t - r.t <= s.u AND s.t >= r.t",
        "s.t - r.t + 9223372036854775807 + 5 <= 7 AND s.t - r.t - 9223372036854775807 - 5 >= 7",
        "s.t - r.t + 9223372036854775807 <= 7 AND s.t - r.t - 9223372036854775807 >= 7"))
      test(s"BIGINT: $sql, ansi $ansi") {
        long.assertExact(sql, longs, longs)
      }
  }
}
