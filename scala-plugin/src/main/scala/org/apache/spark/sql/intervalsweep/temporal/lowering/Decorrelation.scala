// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{EliminateSubqueryAliases, EliminateView}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count, First}
import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.nodes.{TemporalErrors, TemporalPlan}

/**
 * Rewrites subqueries as joins, by Spark's own rules. The rewrite is correct for the rows of any
 * instant, so it is correct for a history. A subquery that is not correlated and reads no
 * valid-time relation is a constant and stays.
 */
private[temporal] object Decorrelation {

  /** Removes views, aliases, hint nodes and pipe operators, in subqueries too. */
  def plain(plan: LogicalPlan): LogicalPlan = {
    val rules = Seq(
      EliminateView,
      EliminateSubqueryAliases,
      EliminateResolvedHint,
      EliminatePipeOperators)
    val own = rules.foldLeft(plan)((p, rule) => rule(p))
    own.transformAllExpressions { case subquery: SubqueryExpression =>
      subquery.withNewPlan(ordered(plain(subquery.plan)))
    }
  }

  /**
   * Moves LIMIT and OFFSET to their ORDER BY, below a projection to fewer columns. Spark's rules for
   * correlated subqueries look for the order only there.
   */
  private def ordered(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case GlobalLimit(most, LocalLimit(local, Project(columns, below @ (_: Sort | _: Offset)))) =>
      Project(columns, GlobalLimit(most, LocalLimit(local, below)))
    case Offset(skipped, Project(columns, sort: Sort)) => Project(columns, Offset(skipped, sort))
  }

  def apply(plan: LogicalPlan): LogicalPlan = {
    val joined = untilStable(groupedByColumns(plain(plan)), rounds = 10)
    joined.foreach { node =>
      node.expressions.foreach(_.foreach {
        case subquery: SubqueryExpression if !isConstant(subquery) =>
          TemporalErrors.noSnapshotForm(
            s"The subquery in ${node.nodeName.toUpperCase(java.util.Locale.ROOT)}",
            "write it as a join",
            subquery.origin)
        case _ =>
      })
    }
    joined
  }

  /**
   * Turns subqueries in GROUP BY into columns below the aggregate, so that the grouping expressions
   * and the returned expressions stay the same. Spark's PullOutGroupingExpressions leaves
   * subqueries that are not correlated.
   */
  private def groupedByColumns(plan: LogicalPlan): LogicalPlan = plan.transformUpWithSubqueries {
    case aggregate: Aggregate if aggregate.groupingExpressions.exists(hasSubquery) =>
      val columns = aggregate.groupingExpressions.filter(hasSubquery).map(Alias(_, "key")())
      def replaced(e: Expression): Expression = e.transformDown {
        case part if hasSubquery(part) =>
          columns.find(_.child.semanticEquals(part)).fold(part)(_.toAttribute)
      }
      aggregate.copy(
        groupingExpressions = aggregate.groupingExpressions.map(replaced),
        aggregateExpressions =
          aggregate.aggregateExpressions.map(replaced(_).asInstanceOf[NamedExpression]),
        child = Project(aggregate.child.output ++ columns, aggregate.child))
  }

  private def hasSubquery(e: Expression): Boolean = SubqueryExpression.hasSubquery(e)

  /**
   * Pulls up correlated predicates, also in nested subqueries. The rule that rewrites a subquery
   * goes on with the subqueries inside it and expects their predicates to be pulled up. The inside
   * of a constant subquery is left to Spark, which does the same.
   */
  private def pulledUp(plan: LogicalPlan): LogicalPlan =
    PullupCorrelatedPredicates(plan.transformAllExpressions {
      case subquery: SubqueryExpression if !isConstant(subquery) =>
        subquery.withNewPlan(pulledUp(subquery.plan))
    })

  private val rules = Seq(
    RewritePredicateSubquery,
    RewriteCorrelatedScalarSubquery,
    RewriteLateralSubquery)

  @tailrec
  private def untilStable(plan: LogicalPlan, rounds: Int): LogicalPlan = {
    val next = uncorrelated(rules.foldLeft(pulledUp(plan))((p, rule) => rule(p)))
    if (rounds == 0 || next.fastEquals(plan)) next else untilStable(next, rounds - 1)
  }

  private def isConstant(subquery: SubqueryExpression): Boolean =
    subquery.children.isEmpty && !TemporalPlan.isMarked(subquery.plan)

  private def changes(e: Expression): Boolean = e match {
    case s: ScalarSubquery => s.children.isEmpty && TemporalPlan.isMarked(s.plan)
    case s: Exists => s.children.isEmpty && TemporalPlan.isMarked(s.plan)
    case _ => false
  }

  /**
   * Joins each row with an uncorrelated subquery whose value changes with time, but not with the
   * row.
   */
  private def uncorrelated(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case join @ Join(left, right, Inner, Some(condition), _) if condition.exists(changes) =>
      uncorrelated(Filter(condition, join.copy(condition = None)))
    case aggregate: Aggregate if aggregate.expressions.exists(_.exists(changes)) =>
      aboveAndBelow(aggregate)
    case node @ (_: Filter | _: Project | _: Sort | _: Window | _: Generate)
        if node.expressions.exists(_.exists(changes)) =>
      beside(node)
  }

  private def beside(node: LogicalPlan): LogicalPlan = {
    var child = node.children.head
    val replaced = node.mapExpressions(_.transform {
      case e: SubqueryExpression if changes(e) =>
        val value = valueOf(e)
        child = Join(child, value, Inner, None, JoinHint.NONE)
        value.output.head
    })
    val result = replaced.withNewChildren(Seq(child))
    if (result.outputSet == node.outputSet) result else Project(node.output, result)
  }

  /** Subqueries inside aggregate functions are joined below the aggregate, others above it. */
  private def aboveAndBelow(aggregate: Aggregate): LogicalPlan = {
    val lifted = Lifted(aggregate)
    if (lifted.results.exists(_.exists(changes)))
      uncorrelated(Project(lifted.results, lifted.below))
    else beside(aggregate)
  }

  /**
   * An aggregate in two steps: `below` computes groups and functions, `results` computes the
   * columns from these.
   */
  private case class Lifted(aggregate: Aggregate) {
    private val computed = mutable.ArrayBuffer.empty[NamedExpression]

    val results: Seq[NamedExpression] = aggregate.aggregateExpressions.map {
      case attribute: Attribute =>
        computed += attribute
        attribute
      case other => lift(other).asInstanceOf[NamedExpression]
    }

    def below: Aggregate = aggregate.copy(aggregateExpressions = computed.toSeq)

    private def lift(e: Expression): Expression =
      if (e.isInstanceOf[AggregateExpression] ||
        aggregate.groupingExpressions.exists(_.semanticEquals(e))) {
        val alias = Alias(e, "computed")()
        computed += alias
        alias.toAttribute
      } else e.mapChildren(lift)
  }

  private def valueOf(e: SubqueryExpression): LogicalPlan = e match {
    case exists: Exists =>
      val found = GreaterThan(Count(Literal(1)).toAggregateExpression(), Literal(0L))
      Aggregate(Nil, Seq(Alias(found, "exists")()), exists.plan)
    case scalar => single(scalar.plan)
  }

  /** One row at each instant, with NULL if the subquery has no row. Several rows are an error. */
  private def single(plan: LogicalPlan): LogicalPlan = plan match {
    case aggregate: Aggregate if aggregate.groupingExpressions.isEmpty => aggregate
    case _ =>
      val value = plan.output.head
      val raised = RaiseError(
        Literal("SCALAR_SUBQUERY_TOO_MANY_ROWS"),
        CreateMap(Nil, useStringTypeWhenEmpty = true),
        value.dataType)
      val many = GreaterThan(Count(Literal(1)).toAggregateExpression(), Literal(1L))
      val first = First(value, ignoreNulls = false).toAggregateExpression()
      Aggregate(Nil, Seq(Alias(If(many, raised, first), value.name)()), plan)
  }
}
