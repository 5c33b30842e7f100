// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._

/** Finds valid-time relations and temporal operators in a plan and its subqueries. */
private[intervalsweep] object TemporalPlan {

  /**
   * The valid-time relations: those of the query's own FROM first, then those of its subqueries.
   */
  private[temporal] def leaves(plan: LogicalPlan): Seq[ValidTime] =
    (plan +: plan.subqueriesAll).flatMap(_.collect {
      case relation: ValidTime => relation
    })

  /** Whether rows of the plan have periods: from a marked table or from a temporal operator. */
  def isMarked(plan: LogicalPlan): Boolean = leaves(plan).nonEmpty || hasOperators(plan)

  private[temporal] def hasOperators(plan: LogicalPlan)
      : Boolean = (plan +: plan.subqueriesAll).exists(_.exists(_.isInstanceOf[TemporalOperator]))
}

/**
 * Raises errors for operators without a meaning at an instant, and for rows that differ from run to
 * run.
 */
private[temporal] object Refused {

  /** Checks a whole query, with the plans below its valid-time relations. */
  def check(plan: LogicalPlan): Unit = {
    checkStreams(plan)
    checkRows(plan)
  }

  /** A stream without periods has no rows at an instant. */
  def checkStreams(plan: LogicalPlan): Unit =
    plan.foreachWithSubqueries { node =>
      if (node.isStreaming)
        TemporalErrors.noSnapshotForm(
          "A stream that is not marked",
          "mark it by validtime, with the column of its watermark as the start",
          plan.origin)
    }

  /** Checks the rows of a query. */
  def checkRows(plan: LogicalPlan): Unit = {
    val ordered = plan.collect { case limit @ PerInstantLimit(_) =>
      limit +: limit.children.flatMap(below => below +: below.children)
    }.flatten
    val tables = plan.collect { case marked: ValidTime =>
      marked.child.collect { case p => p }
    }.flatten
    plan.foreach { node =>
      lazy val isOfTable = tables.exists(_ eq node)
      node match {
        case _: GlobalLimit | _: LocalLimit | _: Offset if !ordered.exists(_ eq node) =>
          if (isOfTable) changing("LIMIT without ORDER BY", node) else apply(node)
        case _: Sample => if (isOfTable) changing("TABLESAMPLE", node) else apply(node)
        case _ =>
      }
      node.expressions.foreach(checkExpression(_, node, isOfTable))
    }
  }

  /** The rows of a table that are other rows each time they are read. */
  private def changing(construct: String, node: LogicalPlan): Nothing =
    TemporalErrors.noSnapshotForm(
      s"$construct in the table of validtime, whose rows may change each time they are read,",
      "write the rows to a table first, and mark that table",
      node.origin)

  private def checkExpression(
      expression: Expression,
      node: LogicalPlan,
      isOfTable: => Boolean): Unit =
    expression.foreach {
      case subquery: SubqueryExpression => checkRows(subquery.plan)
      case random if !random.deterministic && random.children.forall(_.deterministic) =>
        if (isOfTable) changing(random.sql, node)
        TemporalErrors.noSnapshotForm(
          s"${random.sql}, which is not deterministic,",
          "compute it first and write the result to a table",
          if (random.origin.line.isDefined) random.origin else node.origin)
      case _ =>
    }

  def apply(node: LogicalPlan): Nothing = {
    val (construct, cure) = node match {
      case _: GlobalLimit | _: LocalLimit =>
        ("LIMIT without ORDER BY", "add an ORDER BY, to get the first rows of each instant")
      case _: Offset => ("OFFSET without ORDER BY", "add an ORDER BY")
      case _: Sample =>
        ("TABLESAMPLE", "write the sample to a table, and mark that table by validtime")
      case _: LateralJoin =>
        (
          "A LATERAL subquery that stays correlated",
          "write it as a join, or as a scalar subquery")
      case loop if loop.nodeName.startsWith("UnionLoop") =>
        ("A recursive WITH", "write its steps as separate queries")
      case other =>
        (s"The operator ${other.nodeName}", "remove it, or apply it to the result of sequenced")
    }
    TemporalErrors.noSnapshotForm(construct, cure, node.origin)
  }
}
