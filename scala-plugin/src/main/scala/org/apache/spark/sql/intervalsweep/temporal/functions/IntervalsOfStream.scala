// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, Max}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, PeriodEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.fragments.{PeriodArithmetic, ResultForm}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{Emit, TemporalMerge, UntilNext, ValidTime}
import org.apache.spark.sql.intervalsweep.temporal.streams.SequencedStream
import org.apache.spark.sql.types.LongType

/**
 * The intervals of a stream, for the functions that split them or return their gaps. Each result is
 * the history of a query:
 * {{{
 *   split         SELECT keys, count(*), max(start) ... GROUP BY keys
 *   complement    SELECT keys from each start on, until the next one
 *                 EXCEPT SELECT keys
 *   merge         SELECT DISTINCT keys, where each interval goes on to its end plus the gap
 * }}}
 * A fragment begins where an interval starts, which is then the latest start, or where one ends and
 * none starts, which changes the number. So it is a row of that history.
 */
private[functions] final class IntervalsOfStream(
    relation: ValidTime,
    keys: Seq[Attribute],
    rules: Seq[Rule[LogicalPlan]]) {
  private val start = relation.start

  /** The keys, the number of intervals, the latest start, and the interval of each fragment. */
  def split: LogicalPlan = {
    val latest = Alias(start, "latest")()
    val rows = relation.copy(child = Project(relation.child.output :+ latest, relation.child))
    val count = Alias(Count(Literal(1)).toAggregateExpression(), "count")()
    val last = Alias(Max(latest.toAttribute).toAggregateExpression(), "latest")()
    val groups = Aggregate(keys, keys ++ Seq(count, last), rows)
    // Without keys there are rows for empty times, too.
    history(Filter(GreaterThan(count.toAttribute, Literal(0L)), groups))
  }

  /** The keys, if there are any, or another column, and the interval of each gap. */
  def complement: LogicalPlan = {
    def selected =
      if (keys.isEmpty) Seq(Alias(Literal(1), "one")()) else keys.map(k => Alias(k, k.name)())
    val proper = Filter(isProper, relation.child)
    val log = UntilNext(keys, Nil, Literal.FalseLiteral)
    val fromStart = relation.copy(child = proper, end = None, untilNext = Some(log))
    history(Except(Project(selected, fromStart), Project(selected, relation), isAll = false))
  }

  /**
   * The keys, the number of intervals, and each merged interval.
   *
   * @param gap the largest gap at which intervals are merged, in microseconds
   */
  def merge(gap: Long): LogicalPlan = {
    val number = PeriodEndpoint(relation.end.get, isEnd = true)
    val reach = Alias(decoded(PeriodArithmetic.plus(number, Literal(gap))), "reach")()
    val columns = keys :+ start :+ reach
    val rows = relation.copy(
      child = Project(columns, Filter(isProper, relation.child)),
      end = Some(reach.toAttribute))
    val count = AttributeReference("count", LongType, nullable = false)()
    val merged = history(TemporalMerge(keys, count, rows))
    val end = merged.output.last
    val last = decoded(
      Subtract(PeriodEndpoint(end, isEnd = true), Literal(gap), EvalMode.LEGACY))
    if (gap == 0) merged else Project(merged.output.init :+ Alias(last, end.name)(), merged)
  }

  private def decoded(number: Expression): Expression = DecodedEndpoint(number, start.dataType)

  private def isProper: Expression = LessThan(
    PeriodEndpoint(start, isEnd = false),
    PeriodEndpoint(relation.end.get, isEnd = true))

  private def history(query: LogicalPlan): LogicalPlan = SequencedStream.of(
    query,
    None,
    Some(IntervalsOfStream.Names),
    rules,
    ResultForm.HalfOpen,
    Emit.Final)
}

private object IntervalsOfStream {

  /** Names that no column has. */
  val Names: (String, String) = ("intervalsweep_start", "intervalsweep_end")
}
