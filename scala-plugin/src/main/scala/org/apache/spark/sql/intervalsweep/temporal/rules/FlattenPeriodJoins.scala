// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.functions.{IntervalPredicate, Relations}
import org.apache.spark.sql.intervalsweep.temporal.nodes.RuleNames

/**
 * An optimizer rule: turns nested inner joins of periods into joins of whole rows, and computes the
 * common part of all periods above them. Periods have an instant in common if any two of them have
 * one (Helly's theorem on a line). So each join compares columns of tables, and Spark can reorder
 * the joins.
 * {{{
 *   Join overlaps(greatest(a.ts, b.ts), least(a.te, b.te), c.ts, c.te)
 *     Project greatest(a.ts, b.ts), least(a.te, b.te)
 *       Join overlaps(a, b)                           Project greatest(a.ts, b.ts, c.ts), ...
 *         a, b                                  ->      Join overlaps(a, c) AND overlaps(b, c)
 *     c                                                   Join overlaps(a, b)
 * }}}
 */
object FlattenPeriodJoins extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case join @ Join(Clipped(columns, left), right, Inner, Some(condition), JoinHint.NONE)
        if isFlat(columns, condition) =>
      Project(columns ++ right.output, flat(join.copy(left = left), columns, condition))
    case join @ Join(left, Clipped(columns, right), Inner, Some(condition), JoinHint.NONE)
        if isFlat(columns, condition) =>
      Project(left.output ++ columns, flat(join.copy(right = right), columns, condition))
  }

  private def flat(join: Join, columns: Seq[NamedExpression], condition: Expression): Join = {
    val computed = ends(columns)
    val pairwise = condition.transformUp {
      case p: IntervalPredicate if p.relation == Relations.named("INTERVAL_INTERSECTS") =>
        (for {
          (s, e) <- periods(p.rStart, p.rEnd, computed)
          (t, u) <- periods(p.sStart, p.sEnd, computed)
          pair = p.copy(rStart = s, rEnd = e, sStart = t, sEnd = u)
        } yield RuleNames.madeBy(this, pair)).reduce[Expression](And)
    }
    join.copy(condition = Some(pairwise))
  }

  /** The periods whose common part begins at `start` and ends at `end`. */
  private def periods(
      start: Expression,
      end: Expression,
      computed: AttributeMap[Expression]): Seq[(Expression, Expression)] = (start, end) match {
    case (PeriodEndpoint(s: Attribute, false), PeriodEndpoint(e: Attribute, true))
        if computed.contains(s) && computed.contains(e) =>
      parts(computed(s)).zip(parts(computed(e))).map { case (from, to) =>
        (PeriodEndpoint(from, isEnd = false), PeriodEndpoint(to, isEnd = true))
      }
    case _ => Seq((start, end))
  }

  private def parts(e: Expression): Seq[Expression] = e match {
    case Greatest(all) => all.flatMap(parts)
    case Least(all) => all.flatMap(parts)
    case other => Seq(other)
  }

  private def ends(columns: Seq[NamedExpression]): AttributeMap[Expression] =
    AttributeMap(columns.collect { case a @ Alias(end, _) => a.toAttribute -> end })

  /** Whether the condition reads the common part only in comparisons of periods. */
  private def isFlat(columns: Seq[NamedExpression], condition: Expression): Boolean = {
    val computed = ends(columns)
    val rest = condition.transformUp {
      case p: IntervalPredicate if p.relation == Relations.named("INTERVAL_INTERSECTS") =>
        Literal.TrueLiteral
    }
    val overlaps = condition.collect { case p: IntervalPredicate => p }
    overlaps.exists(_.references.exists(computed.contains)) &&
    !rest.references.exists(computed.contains)
  }

  /** Matches an inner join that returns the common part of its rows' periods. */
  private object Clipped {
    def unapply(plan: LogicalPlan): Option[(Seq[NamedExpression], Join)] = plan match {
      case Project(columns, join @ Join(_, _, Inner, _, _)) =>
        val computed = columns.collect { case Alias(end, _) => end }
        val (starts, stops) = computed.partition(_.isInstanceOf[Greatest])
        Option.when(
          starts.size == 1 && stops.size == 1 &&
            parts(starts.head).size == parts(stops.head).size &&
            (parts(starts.head) ++ parts(stops.head)).forall(_.isInstanceOf[Attribute]) &&
            stops.head.isInstanceOf[Least])((columns, join))
      case _ => None
    }
  }
}
