// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, PeriodSweep, TemporalCoalesce, TemporalPlan
}

/**
 * Rewrites aggregates over distinct values as aggregates over distinct rows, which a sweep
 * maintains. Aggregates over other values are joined by the groups:
 * {{{
 *   SELECT k, count(DISTINCT v), sum(w) FROM r GROUP BY k
 *   a: SELECT k, count(v) FROM (SELECT DISTINCT k, v FROM r) GROUP BY k
 *   b: SELECT k, sum(w) FROM r GROUP BY k              a JOIN b ON a.k <=> b.k
 * }}}
 * Without the rewriting, an aggregate with DISTINCT reads each row once for each fragment of its
 * period.
 */
private[temporal] object DistinctAggregates {

  def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case aggregate: Aggregate if TemporalPlan.isMarked(aggregate.child) && isSplit(aggregate) =>
      Parts(aggregate).joined
  }

  private def functionsOf(aggregate: Aggregate): Seq[AggregateExpression] =
    aggregate.aggregateExpressions.flatMap(_.collect { case f: AggregateExpression => f })
      .distinctBy(_.canonicalized)

  private def isSplit(aggregate: Aggregate): Boolean = {
    val distinct = functionsOf(aggregate).filter(_.isDistinct)
    val compared = distinct.flatMap(_.aggregateFunction.children) ++ aggregate.groupingExpressions
    distinct.nonEmpty && compared.forall(e => e.deterministic && PeriodSweep.isComparable(e))
  }

  /** The functions of an aggregate, in parts that read the same distinct values. */
  private case class Parts(aggregate: Aggregate) {

    private val keys = aggregate.groupingExpressions.map(Alias(_, "key")())
    private val rows = Project(aggregate.child.output ++ keys, aggregate.child)

    /** A part: its plan, its groups, and the column of each function. */
    private case class Part(
        plan: LogicalPlan,
        groups: Seq[Attribute],
        results: Seq[(AggregateExpression, Attribute)])

    def joined: LogicalPlan = {
      val parts = functionsOf(aggregate)
        .groupBy(f => Option.when(f.isDistinct)((f.aggregateFunction.children, f.filter)))
        .toSeq.sortBy(_._1.isDefined)
        .map { case (values, functions) => values.fold(plain(functions))(distinct(functions, _)) }
      val first = parts.head
      val all = parts.tail.foldLeft(first.plan) { (left, part) =>
        val sameGroup = first.groups.zip(part.groups).map { case (a, b) => EqualNullSafe(a, b) }
        Join(left, part.plan, Inner, sameGroup.reduceOption[Expression](And), JoinHint.NONE)
      }
      val results = parts.flatMap(_.results)
      val columns = aggregate.aggregateExpressions.map { column =>
        val value = replaced(column, first.groups, results)
        Alias(value, column.name)(column.exprId, column.qualifier)
      }
      val result = Project(columns, all)
      // Rows that touch may be equal if a column is computed, or if a group is not returned.
      val told = AttributeSet(columns.map(_.child).collect { case a: Attribute => a })
      val isCanonical = parts.size == 1 &&
        columns.forall(_.child.isInstanceOf[Attribute]) && first.groups.forall(told.contains)
      if (isCanonical || !result.output.forall(PeriodSweep.isComparable)) result
      else TemporalCoalesce(result)
    }

    private def plain(functions: Seq[AggregateExpression]): Part = {
      val results = functions.map(f => f -> Alias(f, "value")())
      part(keys.map(_.toAttribute), results, rows)
    }

    /** The functions over the distinct values of a group. */
    private def distinct(
        functions: Seq[AggregateExpression],
        values: (Seq[Expression], Option[Expression])): Part = {
      val (arguments, filter) = values
      val columns = arguments.map(Alias(_, "argument")())
      val passes = filter.map(Alias(_, "passes")())
      val groups = keys.map(_.toAttribute)
      val distinctRows = Distinct(Project(groups ++ columns ++ passes, rows))
      val results = functions.map { f =>
        val function = f.aggregateFunction
          .withNewChildren(columns.map(_.toAttribute))
          .asInstanceOf[AggregateFunction]
        f -> Alias(
          f.copy(
            aggregateFunction = function,
            isDistinct = false,
            filter = passes.map(_.toAttribute)),
          "value")()
      }
      part(groups, results, distinctRows)
    }

    /** An aggregate whose columns have new ids, as the parts read the same rows. */
    private def part(
        groups: Seq[Attribute],
        results: Seq[(AggregateExpression, Alias)],
        below: LogicalPlan): Part = {
      val grouped = Aggregate(groups, groups ++ results.map(_._2), below)
      val copy = FreshAttributeCopy(History(grouped, grouped.output, None)).history
      val (newGroups, values) = copy.values.splitAt(groups.size)
      Part(copy.plan, newGroups, results.map(_._1).zip(values))
    }

    private def replaced(
        e: Expression,
        groups: Seq[Attribute],
        results: Seq[(AggregateExpression, Attribute)]): Expression = e match {
      case Alias(child, _) => replaced(child, groups, results)
      case function: AggregateExpression =>
        results.collectFirst { case (f, value) if f.semanticEquals(function) => value }.get
      case _ =>
        aggregate.groupingExpressions.zip(groups)
          .collectFirst { case (key, group) if key.semanticEquals(e) => group }
          .getOrElse(e.mapChildren(replaced(_, groups, results)))
    }
  }
}
