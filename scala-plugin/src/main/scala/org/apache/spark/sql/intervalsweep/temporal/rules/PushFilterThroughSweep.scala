// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.temporal.nodes.{PeriodSweep, RuleNames}

/**
 * An optimizer rule: pushes a filter on the keys of a sweep below the sweep (paper, 5.3.1:
 * selection and the other operators). A filter on keys keeps or drops whole groups.
 */
object PushFilterThroughSweep extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case filter @ Filter(condition, sweep: PeriodSweep) =>
      val keys = AttributeMap(sweep.results.zip(sweep.output).collect {
        case (key: Attribute, name) if sweep.keys.exists(_.exprId == key.exprId) => name -> key
      })
      val (ofKeys, others) = splitConjunctivePredicates(condition).partition { e =>
        e.deterministic && e.references.nonEmpty && e.references.forall(keys.contains)
      }
      if (ofKeys.isEmpty) filter
      else {
        val below = ofKeys.map(_.transform { case a: Attribute => keys.getOrElse(a, a) })
        val pushed = sweep.copy(child = Filter(below.reduce(And), sweep.child))
          .firedBy(Seq(RuleNames.short(this)))
        others.reduceOption(And).fold[LogicalPlan](pushed)(Filter(_, pushed))
      }
  }
}
