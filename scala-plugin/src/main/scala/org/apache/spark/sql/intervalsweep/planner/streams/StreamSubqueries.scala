// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.{
  Exists, LateralSubquery, ListQuery, ScalarSubquery, SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * Raises errors for subqueries of streams that no rule has replaced. Spark refuses each of them with
 * the same text, STREAMING_QUERY, which does not say what to write instead. This is a post-hoc rule
 * of the analyzer: it runs after the other rules and before Spark's check.
 */
object StreamSubqueries extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (conf.getConf(IntervalSweepConf.Enabled) && plan.containsPattern(PLAN_EXPRESSION) &&
      plan.resolved) plan.foreach { node =>
      node.expressions.foreach(_.foreach {
        case subquery: SubqueryExpression if subquery.plan.isStreaming => refuse(node, subquery)
        case _ =>
      })
    }
    plan
  }

  private def refuse(node: LogicalPlan, subquery: SubqueryExpression): Unit = subquery match {
    case _: Exists | _: ListQuery => StreamErrors.unsupported(
        "EXISTS or IN with a subquery",
        "write LEFT SEMI JOIN, or LEFT ANTI JOIN for NOT EXISTS and NOT IN")
    case scalar: ScalarSubquery if scalar.outerAttrs.isEmpty =>
      StreamErrors.unsupported(
        "A subquery of a stream that does not refer to the outer rows",
        "join the two streams within a window, or aggregate the stream by window(ts, ...)")
    case _: LateralSubquery | _: ScalarSubquery if !node.children.exists(_.isStreaming) =>
      StreamErrors.unsupported(
        "A window over a stream for the rows of a table",
        "read the table as a stream with a watermark, or put the stream on the left")
    case _: LateralSubquery | _: ScalarSubquery => refuseWindow(subquery.plan)
    case _ =>
  }

  private def refuseWindow(window: LogicalPlan): Unit =
    if (window.exists(_.isInstanceOf[GlobalLimit])) StreamErrors.unsupported(
      "LIMIT in this form of a lateral or scalar subquery",
      "write SELECT columns FROM probe WHERE conditions ORDER BY ts DESC LIMIT n, with the column " +
        "that has the watermark, and compute the rest above it")
    else if (window.exists {
        case a: Aggregate => a.groupingExpressions.nonEmpty
        case _ => false
      })
      StreamErrors.unsupported(
        "GROUP BY in a lateral or scalar subquery",
        "leave it out: the subquery returns one row for each outer row, and a key becomes a " +
          "condition such as probe.k = base.k. Filter the result above the subquery")
    else if (!window.exists(_.isInstanceOf[Aggregate])) StreamErrors.unsupported(
      "A lateral subquery without aggregates",
      "write a join, with the condition of the subquery after ON")
    else StreamErrors.unsupported(
      "This form of a subquery",
      "write SELECT aggregates FROM probe WHERE conditions, and compute the rest above it")
}
