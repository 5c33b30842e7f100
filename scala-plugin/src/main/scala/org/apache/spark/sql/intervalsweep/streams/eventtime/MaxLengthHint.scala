// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * How long the intervals of a stream are at most: `coalesce(te <= ts + ..., true)`, which
 * `max_length` becomes. Rows that do not fulfil it go on to the operator, where they are dropped and
 * counted; a filter would only drop them. What has a NULL for an end has no length, and stays.
 */
object MaxLengthHint {

  /** A declaration as what it says of rows that have both ends. */
  def unapply(condition: Expression): Option[Expression] = condition match {
    case Coalesce(Seq(fact, Literal.TrueLiteral)) if fact.deterministic => Some(fact)
    case _ => None
  }

  /** The rows of a side without the filters, and what they say. */
  def of(plan: LogicalPlan): (LogicalPlan, Seq[Expression]) = plan match {
    case Filter(MaxLengthHint(fact), child) =>
      val (rows, facts) = of(child)
      (rows, fact +: facts)
    case filter @ Filter(condition, child) if condition.deterministic =>
      val (rows, facts) = of(child)
      (filter.copy(child = rows), facts)
    case alias @ SubqueryAlias(_, child) =>
      val (rows, facts) = of(child)
      (alias.copy(child = rows), facts)
    case project @ Project(columns, child) =>
      val names = AttributeMap(columns.collect {
        case column: Attribute => column -> column
        case alias @ Alias(column: Attribute, _) => column -> alias.toAttribute
      })
      val (rows, facts) = of(child)
      if (facts.exists(!_.references.forall(names.contains))) (plan, Nil)
      else (
        project.copy(child = rows),
        facts.map(_.transform { case column: Attribute => names(column) }))
    case other => (other, Nil)
  }
}
