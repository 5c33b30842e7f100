// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.temporal.fragments.PeriodFragments
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, MeasureKind, NumberedRows, PerInstantLimit, PeriodMeasures, PeriodRule, PeriodSweep,
  Refused, SweepInput, TemporalCoalesce, TemporalFragments, TemporalMerge, TemporalOperator,
  TemporalPlan, TemporalSetOperation, ValidTime
}
import org.apache.spark.sql.types.DataType

/**
 * Rewrites a plain query over valid-time relations as one that returns the history of its result,
 * operator by operator. The invariant: at each instant, the rows of the new plan are those of the
 * operator over its inputs' rows at that instant.
 *
 * The columns of an operator keep their ids, so that the operators above read the same columns.
 *
 * @param dataType the type of all periods in the query
 * @param asked    the part of the history that is read
 */
private[temporal] case class Sequenced(dataType: DataType, asked: Option[AskedPeriod] = None) {

  private val joins = PeriodJoins(dataType)
  private val cuts = SplitAtBoundaries(dataType)

  /**
   * The history of a plan. A plan without valid-time relations is always valid, and stays
   * unchanged.
   */
  def history(plan: LogicalPlan): History =
    if (!TemporalPlan.isMarked(plan)) History(plan, plan.output, None)
    // Errors give the position of this part of the query.
    else CurrentOrigin.withOrigin(plan.origin)(ofMarked(plan))

  private def ofMarked(plan: LogicalPlan): History = plan match {
    case relation: ValidTime => ValidTimeLeaf(relation, asked).history(dataType)
    case operator: TemporalOperator => ofTemporal(operator)

    case NumberedRows(numbered) => cuts.numbered(numbered, history(numbered.window.child))
        .getOrElse(unchanged(numbered.filter))
    case Project(columns, child) =>
      over(child, plan)(h => Project(columns ++ h.period.toSeq.flatMap(_.columns), h.plan))
    case filter: Filter => unchanged(filter)
    case generate: Generate => over(generate.child, plan)(h => generate.copy(child = h.plan))
    case Expand(rows, output, child) =>
      over(child, plan) { h =>
        val period = h.period.toSeq.flatMap(_.columns)
        Expand(rows.map(_ ++ period), output ++ period, h.plan)
      }
    case _: Repartition | _: RepartitionByExpression | _: RebalancePartitions =>
      over(plan.children.head, plan)(h => plan.withNewChildren(Seq(h.plan)))
    // The operators above do not depend on an order of rows.
    case Sort(_, _, child, _) => history(child)

    case PerInstantLimit(limit) => cuts.limited(limit, history(limit.sort.child))
    case window: Window => cuts.windowed(window, history(window.child))
    case aggregate: Aggregate => cuts.aggregated(aggregate, history(aggregate.child))

    case Join(left, right, joinType, condition, hint) =>
      joins.joined(history(left), history(right), joinType, condition, hint)
    case union: Union => History.united(union.children.map(history(_).bounded(dataType)))
    case Distinct(child) =>
      sweep(PeriodRule.Distinct, Seq(SweepInput.left(history(child))), plan.output)
    case Except(left, right, isAll) =>
      ofBoth(if (isAll) PeriodRule.ExceptAll else PeriodRule.Except, left, right)
    case Intersect(left, right, isAll) =>
      ofBoth(if (isAll) PeriodRule.IntersectAll else PeriodRule.Intersect, left, right)

    case other => Refused(other)
  }

  private def unchanged(filter: Filter): History =
    over(filter.child, filter)(h => filter.copy(child = h.plan))

  /** An operator that does not change the periods. */
  private def over(child: LogicalPlan, plan: LogicalPlan)(node: History => LogicalPlan): History = {
    val below = history(child)
    History(node(below), plan.output, below.period)
  }

  private def ofBoth(rule: PeriodRule, left: LogicalPlan, right: LogicalPlan): History =
    sweep(
      rule,
      Seq(SweepInput.left(history(left)), SweepInput.right(history(right))),
      left.output)

  private def ofTemporal(operator: TemporalOperator): History = operator match {
    case TemporalSetOperation(rule, left, right) => ofBoth(rule, left, right)
    case TemporalCoalesce(child) => coalesced(history(child))
    case merge: TemporalMerge => merged(merge)
    case fragments: TemporalFragments =>
      // A window moves ends, and fragments are counted from the start of the whole period.
      val whole = copy(asked = None).history(fragments.child)
      PeriodFragments(dataType).history(fragments, whole)
  }

  private def merged(merge: TemporalMerge): History = {
    val rows = history(merge.child)
    val one = asked.fold[Expression](Literal(1L)) { part =>
      val isNew = GreaterThan(rows.from, PeriodEndpoint(part.from, isEnd = false))
      If(isNew, Literal(1L), Literal(0L))
    }
    val measures = new PeriodMeasures
    val count = Alias(measures.state(MeasureKind.Sum, one), merge.count.name)()
    val swept =
      PeriodSweep.ofValues(PeriodRule.Islands, rows, merge.keys, measures.all, Seq(count))
    History.ofNumbers(swept, swept.values, swept.ends, dataType).named(merge.output)
  }

  /** The rows in canonical form, as [[PeriodSweep]] describes it. */
  def coalesced(rows: History): History =
    sweep(PeriodRule.Coalesce, Seq(SweepInput.left(rows)), rows.values)

  private def sweep(rule: PeriodRule, inputs: Seq[SweepInput], output: Seq[Attribute]): History =
    PeriodSweep.history(rule, inputs, output, dataType)
}
