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
 * Writes subqueries as joins, by Spark's own rules: what holds for the rows of any instant holds for
 * those of each. A subquery that has nothing to do with the rows around it, and that reads no
 * valid-time relation, is a constant and stays.
 */
private[temporal] object Decorrelation {

  /** Without what only gives names, in subqueries too. */
  def plain(plan: LogicalPlan): LogicalPlan = {
    val rules = Seq(
      EliminateView,
      EliminateSubqueryAliases,
      EliminateResolvedHint,
      EliminatePipeOperators)
    val own = rules.foldLeft(plan)((p, rule) => rule(p))
    own.transformAllExpressions { case subquery: SubqueryExpression =>
      subquery.withNewPlan(plain(subquery.plan))
    }
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
   * Subqueries that rows are grouped by come as columns, since what is returned has to be the same.
   * Spark's PullOutGroupingExpressions leaves those that read no row around them.
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
   * Of subqueries in subqueries, too: what takes one apart goes on with those inside it, and takes
   * their conditions to be pulled up. What is in a constant stays for Spark, which does the same.
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

  /** A value that changes with time, and not with the rows: beside each row, that of the instant. */
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

  /** Values that functions read come from below an aggregate, and others from above. */
  private def aboveAndBelow(aggregate: Aggregate): LogicalPlan = {
    val lifted = Lifted(aggregate)
    if (lifted.results.exists(_.exists(changes)))
      uncorrelated(Project(lifted.results, lifted.below))
    else beside(aggregate)
  }

  /** An aggregate as one that computes groups and functions, and what is made of these. */
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

  /** One row at each instant, NULL if there is none. */
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
