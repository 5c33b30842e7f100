// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * The maximum length of a stream's intervals, which the option `max_length` declares as a filter
 * `coalesce(te <= ts + ..., true)`. Rows that violate it pass to the operator, which drops and
 * counts them; a filter would drop them without a count. A row with a NULL endpoint has no length
 * and stays.
 */
object MaxLengthHint {

  /** The condition that a declaration states for rows with both endpoints. */
  def unapply(condition: Expression): Option[Expression] = condition match {
    case Coalesce(Seq(fact, Literal.TrueLiteral)) if fact.deterministic => Some(fact)
    case _ => None
  }

  /** The plan of a side without these filters, and the conditions that they state. */
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
