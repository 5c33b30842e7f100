// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeSeq, BindReferences, Expression}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, JoinHint}
import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.functions.{IntervalPredicate, Relation, Relations}

/** A relation with a constant interval keeps its value, NULL included, when it is expanded. */
class ExpandSingleTableFiltersSuite extends ConditionSupport {
  private val tables = Tables("ts INT, te INT", "ts INT, te INT")
  private val ends: Seq[Any] = Seq(Int.MinValue, -1, 0, 1, 3, 5, 6, Int.MaxValue, null)
  private val rows = product(ends, ends).map(InternalRow.fromSeq(_))
  private val constants = Seq("0, 5", "3, 3", "5, 0", s"1, ${Int.MaxValue}")

  private def calls(relation: Relation): Seq[String] = for {
    constant <- constants
    parameters <- relation.parameters.map(_._1).toSet.subsets().toSeq
    arguments = parameters.toSeq.sorted.map(p => s", $p => 2").mkString
    endpoints <- Seq(s"r.ts, r.te, $constant", s"$constant, r.ts, r.te")
  } yield s"${relation.functionName}($endpoints$arguments)"

  private def expanded(condition: Expression): Expression =
    ExpandSingleTableFilters(Filter(condition, tables.r)) match {
      case Filter(comparisons, _) => comparisons
      case other => fail(s"$other is no filter")
    }

  private def valuesOf(condition: Expression): Seq[Any] = {
    val bound =
      BindReferences.bindReference(condition, AttributeSeq.fromNormalOutput(tables.r.output))
    rows.map(bound.eval(_))
  }

  for (relation <- Relations.all)
    test(s"${relation.name} with a constant interval") {
      val matches = calls(relation).map { call =>
        val condition = tables.condition(call)
        val comparisons = expanded(condition)
        assert(!comparisons.exists(_.isInstanceOf[IntervalPredicate]), call)
        val values = valuesOf(condition)
        assert(valuesOf(comparisons) == values, s"$call is expanded to $comparisons")
        values.count(_ == true)
      }
      assert(matches.sum > 0)
    }

  test("a relation above a join is not expanded, as it may become the join condition") {
    val join = Join(tables.r, tables.s, Inner, None, JoinHint.NONE)
    val filter = Filter(tables.condition("allen_overlaps(r.ts, r.te, s.ts, s.te)"), join)
    assert(ExpandSingleTableFilters(filter) == filter)
  }
}
