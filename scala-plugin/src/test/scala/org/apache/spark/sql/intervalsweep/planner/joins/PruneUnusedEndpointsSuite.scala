// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.intervalsweep.functions.FunctionsSession
import org.scalatest.funsuite.AnyFunSuite

class PruneUnusedEndpointsSuite extends AnyFunSuite with FunctionsSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    createIntervals()
  }

  /** The columns that a join reads from its inputs. */
  private def read(on: String): Set[String] = {
    val plan = spark.sql(s"SELECT count(*) FROM r JOIN s ON $on").queryExecution.optimizedPlan
    join(plan).references.map(_.name).toSet
  }

  private def join(plan: LogicalPlan): Join = plan.collectFirst { case j: Join => j }.get

  test("columns that a relation does not compare are not read") {
    val all = Set("rts", "rte", "sts", "ste")
    assert(read("ALLEN_OVERLAPS(rts, rte, sts, ste)") == all)
    assert(read("ISEQL_START_PRECEDING(rts, rte, sts, ste)") == all - "ste")
    assert(read("ISEQL_END_FOLLOWING(rts, rte, sts, ste)") == all - "sts")
    assert(read("ALLEN_BEFORE(rts, rte, sts, ste)") == Set("rte", "sts"))
    assert(read("ALLEN_AFTER(rts, rte, sts, ste)") == Set("rts", "ste"))
  }

  test("but those that a parameter bounds are") {
    assert(read("ISEQL_START_PRECEDING(rts, rte, sts, ste, delta => 1)") ==
      Set("rts", "rte", "sts"))
    assert(read("ISEQL_END_FOLLOWING(rts, rte, sts, ste, epsilon => 1)") ==
      Set("rts", "rte", "ste"))
  }

  test("plans and conditions show them nevertheless, and the rows are the same") {
    val query = "SELECT * FROM r JOIN s ON ISEQL_START_PRECEDING(rts, rte, sts, ste)"
    assert(join(spark.sql(query).queryExecution.optimizedPlan).condition.get.sql
      .contains("iseql_start_preceding(r.rts, r.rte, s.sts, s.ste)"))
    val written = rows("SELECT * FROM r JOIN s ON rts <= sts AND sts < rte")
    assert(rows(query) == written)
    assert(written.exists(_.isNullAt(3)))
  }

  test("a struct of which one field is compared, in a correlated EXISTS") {
    val structs = "(SELECT struct(rts AS ts, rte AS te) AS p FROM r)"
    assert(rows(s"SELECT * FROM $structs a WHERE EXISTS (SELECT 1 FROM $structs b " +
      "WHERE ALLEN_BEFORE(a.p, b.p))").size == rows("SELECT * FROM r WHERE rte < 4").size)
  }

  test("an endpoint that nobody asks for does not fail") {
    assert(rows("SELECT * FROM r JOIN s ON ALLEN_BEFORE(1 / (rts - 1), rte, sts, ste)").size ==
      rows("SELECT * FROM r JOIN s ON rte < sts").size)
  }
}
