// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeSeq, BindReferences, Expression
}
import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable

/** Conditions that are bands of row numbers, and the monotonicity that counting pairs relies on. */
class BandConditionSuite extends ConditionSupport {
  private val schema = "n BIGINT, i INT, v BIGINT"
  private val numbers: Seq[Long] =
    Seq(Long.MinValue, Long.MinValue + 1, -12L) ++ (-6L to 6L) ++ Seq(12L, Long.MaxValue)

  private def narrow(n: Long): Int = n.max(Int.MinValue.toLong).min(Int.MaxValue.toLong).toInt

  private def isBand(sql: String, column: String = "n", ansi: Boolean = true): Boolean = {
    val tables = Tables(schema, schema, ansi)
    def number(all: Seq[Attribute]): Attribute = all.find(_.name == column).get
    val numbers = Map[Side, Attribute](
      LeftSide -> number(tables.r.output),
      RightSide -> number(tables.s.output))
    val condition = tables.condition(sql)
    val found = BandCondition(numbers).isOne(condition)
    if (found) assertMonotone(sql, tables, condition)
    found
  }

  /**
   * If the condition is true for a row and two numbers, it is true for all numbers between them.
   * The numbers for which it raises no error are contiguous.
   */
  private def assertMonotone(sql: String, tables: Tables, condition: Expression): Unit = {
    val holds = BindReferences.bindReference(
      InlineReplaceable(condition),
      AttributeSeq.fromNormalOutput(tables.r.output ++ tables.s.output))
    val outcomes = numbers.map { left =>
      numbers.map { right =>
        val pair = InternalRow(left, narrow(left), 0L, right, narrow(right), 0L)
        Try(holds.eval(pair) == true).toOption
      }
    }
    for (row <- outcomes ++ outcomes.transpose) {
      val whole = row.indices.filter(row(_).contains(true))
      for (from <- whole; until <- whole; k <- from to until) assert(row(k).contains(true), sql)
      val kept = row.indices.filter(row(_).isDefined)
      assert(kept.isEmpty || kept.size == kept.last - kept.head + 1, sql)
    }
    ()
  }

  test("bounds of one number by the other are bands, whatever the types of constants are") {
    for {
      condition <- Seq(
        "abs(r.n - s.n) < 5",
        "abs(s.n - r.n) <= 5L",
        "r.n - s.n < 5 AND s.n - r.n < 7",
        "r.n BETWEEN s.n - 3 AND s.n",
        "r.n div 4 = s.n div 4",
        "abs(r.n div 4 - s.n div CAST(2 AS SMALLINT)) < 3L",
        "-r.n < 5 - s.n",
        "NOT (r.n > s.n + 2)")
    } assert(isBand(condition), condition)
    assert(isBand("abs(CAST(r.i AS BIGINT) - s.i) < 5", "i"))
    assert(isBand("abs(r.i - s.i) < 5L", "i"))
  }

  test("what else a condition says is no band") {
    for {
      condition <- Seq(
        "abs(r.n - s.n) < s.v",
        "abs(r.n + s.n) < 5",
        "abs(r.n div -4 - s.n) < 5",
        "r.n < 5",
        "abs(r.n - s.n) < 5 OR r.n < s.n",
        "r.n % 4 = s.n % 4",
        "abs(2 * r.n - r.n - s.n) < 5")
    } assert(!isBand(condition), condition)
    assert(!isBand("abs(CAST(r.n AS INT) - s.n) < 5"))
  }

  test("numbers that wrap around at the ends of their type are no band") {
    assert(!isBand("abs(r.n - s.n) < 5", ansi = false))
    assert(isBand("r.n div 4 = s.n div 4", ansi = false))
  }
}
