// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._

/** What there is in a plan, its subqueries included. */
private[intervalsweep] object TemporalPlan {

  /** Those of a query's own FROM come before those of its subqueries. */
  private[temporal] def leaves(plan: LogicalPlan): Seq[ValidTime] =
    (plan +: plan.subqueriesAll).flatMap(_.collect {
      case relation: ValidTime => relation
    })

  /** Whether its rows have periods: of a marked table, or by an operator that looks at periods. */
  def isMarked(plan: LogicalPlan): Boolean = leaves(plan).nonEmpty || hasOperators(plan)

  private[temporal] def hasOperators(plan: LogicalPlan)
      : Boolean = (plan +: plan.subqueriesAll).exists(_.exists(_.isInstanceOf[TemporalOperator]))
}

/** Operators that have no meaning for each instant, or whose rows differ from run to run. */
private[temporal] object Refused {

  /** Looks at a whole query, what is below its valid-time relations included. */
  def check(plan: LogicalPlan): Unit = {
    if (plan.isStreaming)
      TemporalErrors.noSnapshotForm("A stream", "write it to a table and read that", plan.origin)
    checkWithSubqueries(plan)
  }

  private def checkWithSubqueries(plan: LogicalPlan): Unit = {
    val ordered = plan.collect { case limit @ PerInstantLimit(_) =>
      limit +: limit.children.flatMap(below => below +: below.children)
    }.flatten
    plan.foreach { node =>
      node match {
        case _: GlobalLimit | _: LocalLimit | _: Offset if !ordered.exists(_ eq node) =>
          apply(node)
        case _: Sample => apply(node)
        case _ =>
      }
      node.expressions.foreach(checkExpression(_, node))
    }
  }

  private def checkExpression(expression: Expression, node: LogicalPlan): Unit =
    expression.foreach {
      case subquery: SubqueryExpression => checkWithSubqueries(subquery.plan)
      case random if !random.deterministic && random.children.forall(_.deterministic) =>
        TemporalErrors.noSnapshotForm(
          s"${random.sql}, which is not deterministic,",
          "compute it before, into a table",
          if (random.origin.line.isDefined) random.origin else node.origin)
      case _ =>
    }

  def apply(node: LogicalPlan): Nothing = {
    val (construct, cure) = node match {
      case _: GlobalLimit | _: LocalLimit =>
        ("LIMIT without ORDER BY", "add an ORDER BY, for the first rows of each instant")
      case _: Offset => ("OFFSET without ORDER BY", "add an ORDER BY")
      case _: Sample => ("TABLESAMPLE", "take the sample into a table, and mark that")
      case _: LateralJoin =>
        ("LATERAL that stays correlated", "write it as a join, or as a scalar subquery")
      case loop if loop.nodeName.startsWith("UnionLoop") =>
        ("A recursive WITH", "write its steps out")
      case other => (s"The operator ${other.nodeName}", "leave it out, or put it after sequenced")
    }
    TemporalErrors.noSnapshotForm(construct, cure, node.origin)
  }
}
