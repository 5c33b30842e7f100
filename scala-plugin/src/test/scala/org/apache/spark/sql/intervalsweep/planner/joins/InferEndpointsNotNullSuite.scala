// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, IsNotNull}
import org.apache.spark.sql.catalyst.plans.{FullOuter, Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.functions.FunctionsSession
import org.scalatest.funsuite.AnyFunSuite

class InferEndpointsNotNullSuite extends AnyFunSuite with FunctionsSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    createIntervals()
  }

  private def optimized(query: String): LogicalPlan = spark.sql(query).queryExecution.optimizedPlan

  /** The columns for which some filter or join has IS NOT NULL. */
  private def checked(plan: LogicalPlan): Set[String] = plan.collect { case node: UnaryNode =>
    node
  }
    .flatMap(_.expressions).flatMap(_.collect { case IsNotNull(a: AttributeReference) =>
      a.name
    }).toSet

  private def joinType(plan: LogicalPlan) = plan.collectFirst { case j: Join => j.joinType }.get

  private val overlaps = "ALLEN_OVERLAPS(rts, rte, sts, ste)"

  test("an inner join filters the NULLs out of both sides") {
    assert(checked(optimized(s"SELECT * FROM r JOIN s ON $overlaps")) ==
      Set("rts", "rte", "sts", "ste"))
  }

  test("only of the endpoints that the relation compares") {
    assert(checked(optimized("SELECT * FROM r JOIN s ON ALLEN_BEFORE(rts, rte, sts, ste)")) ==
      Set("rte", "sts"))
    assert(rows(
      "SELECT * FROM r JOIN s ON ALLEN_BEFORE(rts, rte, sts, ste) WHERE rts IS NULL").size == 2)
  }

  test("also through casts, and of the parameters") {
    val plan =
      optimized("SELECT * FROM r JOIN s ON ISEQL_BEFORE(0L, rte, CAST(sts AS BIGINT), 0, rts)")
    assert(checked(plan) == Set("rte", "sts", "rts"))
  }

  test("not what stands below something that NULL does not pass") {
    assert(checked(optimized("SELECT * FROM r WHERE ALLEN_BEFORE(0, coalesce(rte, 0), rts, 9)")) ==
      Set("rts"))
    assert(checked(optimized(s"SELECT * FROM r, s WHERE NOT $overlaps")) == Set.empty)
    assert(checked(optimized(s"SELECT * FROM r, s WHERE $overlaps OR rts IS NULL")) == Set.empty)
  }

  test("a filter makes an outer join an inner one") {
    assert(joinType(optimized(s"SELECT * FROM r LEFT JOIN s ON true WHERE $overlaps")) == Inner)
    assert(joinType(optimized(s"SELECT * FROM r FULL JOIN s ON rts = sts WHERE $overlaps")) ==
      Inner)
  }

  test("an outer join filters the side that it does not keep") {
    val left = optimized(s"SELECT * FROM r LEFT JOIN s ON $overlaps")
    assert(joinType(left) == LeftOuter)
    assert(checked(left) == Set("sts", "ste"))
    assert(checked(optimized(s"SELECT * FROM r RIGHT JOIN s ON $overlaps")) == Set("rts", "rte"))
    val full = optimized(s"SELECT * FROM r FULL JOIN s ON $overlaps")
    assert(joinType(full) == FullOuter)
    assert(checked(full).isEmpty)
  }

  test("semi and anti joins") {
    assert(checked(optimized(s"SELECT * FROM r LEFT SEMI JOIN s ON $overlaps")) ==
      Set("rts", "rte", "sts", "ste"))
    assert(checked(optimized(s"SELECT * FROM r LEFT ANTI JOIN s ON $overlaps")) ==
      Set("sts", "ste"))
  }

  private val joins = Seq(
    s"r JOIN s ON $overlaps",
    s"r LEFT JOIN s ON $overlaps",
    s"r RIGHT JOIN s ON $overlaps",
    s"r FULL JOIN s ON $overlaps",
    s"r LEFT SEMI JOIN s ON $overlaps",
    s"r LEFT ANTI JOIN s ON $overlaps",
    s"r LEFT JOIN s ON true WHERE $overlaps",
    s"r FULL JOIN s ON rts = sts WHERE $overlaps",
    s"(SELECT max(rts) rts, rte FROM r GROUP BY rte) JOIN (SELECT DISTINCT * FROM s) ON $overlaps",
    s"(SELECT * FROM r UNION ALL SELECT * FROM s) JOIN s ON $overlaps",
    s"(SELECT coalesce(rts, rte) rts, rte FROM r) JOIN s ON $overlaps",
    s"r JOIN (SELECT *, sum(sts) OVER (PARTITION BY ste) x FROM s) ON $overlaps",
    s"(SELECT explode(array(rts, rte)) rts, rte FROM r) JOIN s ON $overlaps",
    s"r JOIN (SELECT * FROM s ORDER BY sts LIMIT 3) ON $overlaps")

  joins.foreach { from =>
    test(s"same rows with the formula written out, and it comes to an end: $from") {
      val written = from.replace(overlaps, "(rts < sts AND sts < rte AND rte < ste)")
      val plan = optimized(s"SELECT * FROM $from")
      assert(InferEndpointsNotNull(plan) == plan)
      assert(rows(s"SELECT * FROM $from").map(_.toString).sorted ==
        rows(s"SELECT * FROM $written").map(_.toString).sorted)
    }
  }

  test("it needs to know what the children know") {
    withConf("spark.sql.constraintPropagation.enabled" -> "false") {
      assert(checked(optimized(s"SELECT * FROM r JOIN s ON $overlaps")).isEmpty)
    }
  }
}
