// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.temporal.nodes.{TemporalCoalesce, TemporalSetOperation}

/**
 * A rule for the query inside `sequenced`. It drops a sweep below another sweep by the same values
 * if the outer result does not change. It also drops the coalescing of a result that is canonical
 * already.
 * {{{
 *   distinct(distinct A), distinct(coalesce A)      distinct A
 *   coalesce A - B, and the other set operations    A - B
 *   distinct A except B, and intersect              A except B
 *   coalesce(A - B), coalesce(distinct A)           A - B, distinct A
 * }}}
 */
object DropInnerSweep extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case Distinct(child) => Distinct(withoutCopies(child))
    case Except(a, b, true) => Except(uncoalesced(a), uncoalesced(b), isAll = true)
    case Except(a, b, false) => Except(withoutCopies(a), withoutCopies(b), isAll = false)
    case Intersect(a, b, true) => Intersect(uncoalesced(a), uncoalesced(b), isAll = true)
    case Intersect(a, b, false) => Intersect(withoutCopies(a), withoutCopies(b), isAll = false)
    case TemporalSetOperation(rule, a, b) =>
      TemporalSetOperation(rule, uncoalesced(a), uncoalesced(b))
    case TemporalCoalesce(child @ Columns(_: Distinct | _: Except | _: Intersect)) => child
    case TemporalCoalesce(child @ Columns(_: TemporalSetOperation | _: TemporalCoalesce)) => child
  }

  /** The operand without coalescing. The operator depends on how often each row is valid. */
  private def uncoalesced(plan: LogicalPlan): LogicalPlan = plan match {
    case Columns(TemporalCoalesce(child)) => uncoalesced(child)
    case _ => plan
  }

  /**
   * The operand without coalescing and DISTINCT. The operator depends on whether a row is valid.
   */
  private def withoutCopies(plan: LogicalPlan): LogicalPlan = plan match {
    case Columns(Distinct(child)) => withoutCopies(child)
    case Columns(TemporalCoalesce(child)) => withoutCopies(child)
    case _ => plan
  }
}
