// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, NumberedRows, PerInstantLimit, PeriodMeasures, PeriodRule, PeriodSweep, SweepInput,
  TemporalErrors
}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * Operators over the rows of a group: aggregates, window functions, the first rows in an order. The
 * time of a group is cut where one of its rows starts or ends, and Spark's own operator is computed
 * for each fragment. No row starts or ends within a fragment. Touching fragments with equal results
 * become one.
 *
 * A group of n rows has fewer than 2 n fragments. Each row is repeated for each fragment in its
 * period, so there are O(n^2) rows at worst.
 */
private[temporal] case class SplitAtBoundaries(dataType: DataType) {

  /**
   * Rows, each repeated for every fragment of its group's time in which it is valid.
   *
   * @param keys the columns of the groups, on the side of the fragments
   */
  private case class Fragmented(
      plan: LogicalPlan,
      keys: Seq[Attribute],
      from: Attribute,
      to: Attribute) {
    def fragment: Seq[Attribute] = Seq(from, to)
    def history(plan: LogicalPlan, values: Seq[Attribute]): History =
      History.ofNumbers(plan, values, fragment, dataType)
  }

  def aggregated(aggregate: Aggregate, below: History): History = {
    val (rows, keys) = withKeys(below, aggregate.groupingExpressions, "GROUP BY")
    ofValues(aggregate, rows, keys).getOrElse(piecewise(aggregate, rows, keys))
  }

  /** The aggregates without cuts, by measures of a sweep. None if a function needs all rows. */
  private def ofValues(
      aggregate: Aggregate,
      rows: History,
      keys: Seq[Attribute]): Option[History] = {
    val measures = new PeriodMeasures
    val functions = mutable.LinkedHashMap.empty[Expression, Option[Alias]]
    aggregate.aggregateExpressions.foreach(_.foreach {
      case f: AggregateExpression => functions.getOrElseUpdate(
          f.canonicalized,
          PeriodValue(measures).of(f).map(Alias(_, f.aggregateFunction.prettyName)()))
      case _ =>
    })
    Option.when(functions.values.forall(_.isDefined)) {
      val values = functions.values.flatten.toSeq
      val rule = PeriodRule.Values(ofEmpty = keys.isEmpty)
      val swept =
        PeriodSweep.ofValues(rule, rows, keys, measures.all, values)
      val groups = aggregate.groupingExpressions.zip(swept.output)
      val results = aggregate.aggregateExpressions.map { result =>
        val value = replaced(result, groups, f => functions(f.canonicalized).get.toAttribute)
        Alias(value, result.name)(result.exprId, result.qualifier)
      }
      val history = History.ofNumbers(
        Project(results ++ swept.ends, swept),
        results.map(_.toAttribute),
        swept.ends,
        dataType)
      // The sweep has merged touching periods with equal keys and values. Rows may still be equal
      // if a key is not returned, or if a result is computed from the values.
      val told = AttributeSet(results.map(_.child).collect { case a: Attribute => a })
      val isCanonical = results.forall(_.child.isInstanceOf[Attribute]) &&
        groups.forall { case (_, key) => told.contains(key) }
      if (isCanonical || !results.forall(r => PeriodSweep.isComparable(r.toAttribute))) history
      else coalesced(history)
    }
  }

  private def piecewise(aggregate: Aggregate, rows: History, keys: Seq[Attribute]): History = {
    val cut = fragmented(rows, keys)
    val results = aggregate.aggregateExpressions.map { result =>
      Alias(replaced(result, aggregate.groupingExpressions.zip(cut.keys), identity), result.name)()
    }
    val fragments = Aggregate(cut.keys ++ cut.fragment, results ++ cut.fragment, cut.plan)
    val changes = cut.history(fragments, results.map(_.toAttribute))
    val all = changes +: (if (keys.isEmpty) Seq(ofEmpty(aggregate, rows)) else Nil)
    if (changes.values.forall(PeriodSweep.isComparable))
      PeriodSweep.history(
        PeriodRule.Coalesce,
        all.map(SweepInput.left),
        aggregate.output,
        dataType)
    // Rows that cannot be compared, such as those with a MAP, stay cut.
    else (if (keys.isEmpty) History.united(all) else changes).named(aggregate.output)
  }

  /** Replaces grouping expressions by their columns, but not in the arguments of functions. */
  private def replaced(
      e: Expression,
      keys: Seq[(Expression, Attribute)],
      valueOf: AggregateExpression => Expression): Expression = e match {
    case function: AggregateExpression => valueOf(function)
    case _ =>
      keys.collectFirst { case (key, column) if key.semanticEquals(e) => column }.getOrElse(
        e match {
          case Alias(child, _) => replaced(child, keys, valueOf)
          case _ => e.mapChildren(replaced(_, keys, valueOf))
        })
  }

  /**
   * Without keys there is a result at each instant. Where no row is valid, it is the aggregate of
   * no rows.
   */
  private def ofEmpty(aggregate: Aggregate, rows: History): History = {
    val noRows = LocalRelation(rows.values)
    val result = Aggregate(
      Nil,
      aggregate.aggregateExpressions.map {
        case Alias(child, name) => Alias(child, name)()
        case other => other
      },
      noRows)
    val constant = FreshAttributeCopy(History(result, result.output, None)).history
    val gaps = PeriodSweep.of(
      PeriodRule.Gaps,
      Seq(
        SweepInput(FreshAttributeCopy(rows).history, Nil, LeftSide),
        SweepInput(History(OneRowRelation(), Nil, None), Nil, RightSide)))
    val all = Join(gaps, constant.plan, Inner, None, JoinHint.NONE)
    History.ofNumbers(all, constant.values, gaps.ends, dataType)
  }

  def windowed(window: Window, below: History): History = {
    val (rows, keys) = withKeys(below, window.partitionSpec, "PARTITION BY")
    val cut = fragmented(rows, keys)
    val piecewise = window.windowExpressions.map(_.transform {
      case w: WindowSpecDefinition => w.copy(partitionSpec = keys ++ cut.fragment)
    }.asInstanceOf[NamedExpression])
    val plan = window.copy(
      windowExpressions = piecewise,
      partitionSpec = keys ++ cut.fragment,
      child = cut.plan)
    val result = cut.history(plan, window.output)
    if (result.values.forall(PeriodSweep.isComparable)) coalesced(result) else result
  }

  def limited(limit: PerInstantLimit, below: History): History = {
    def number(e: Expression): Option[Int] =
      Option.when(e.foldable)(e.eval()).collect { case n: Int => n }
    val all = for {
      most <- limit.limit.flatMap(number)
      skipped <- number(limit.offset.getOrElse(Literal(0)))
      found <- FirstRows(dataType).of(below, limit.sort.order, skipped, most)
    } yield found
    val chosen = selected(limit, all.getOrElse(firstOfFragments(limit, below)))
    if (chosen.values.forall(PeriodSweep.isComparable)) coalesced(chosen) else chosen
  }

  /** The first rows by their row number. None if a sweep cannot return them. */
  def numbered(rows: NumberedRows, below: History): Option[History] =
    FirstRows(dataType).of(below, rows.window.orderSpec, 0, rows.most, Some(rows.number)).map {
      first =>
        val filtered = rows.over(first.plan, first.period.get.columns)
        val result = History(filtered, rows.filter.output, first.period)
        if (result.values.forall(PeriodSweep.isComparable)) coalesced(result) else result
    }

  private def selected(limit: PerInstantLimit, rows: History): History =
    limit.columns.fold(rows) { columns =>
      History(
        Project(columns ++ rows.period.get.columns, rows.plan),
        columns.map(_.toAttribute),
        rows.period)
    }

  private def firstOfFragments(limit: PerInstantLimit, below: History): History = {
    val cut = fragmented(below, Nil)
    val order = limit.sort.order
    val frame = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
    val number = Alias(
      WindowExpression(RowNumber(), WindowSpecDefinition(cut.fragment, order, frame)),
      "number")()
    val numbered = Window(Seq(number), cut.fragment, order, cut.plan)
    val skipped = limit.offset.getOrElse(Literal(0))
    val after = GreaterThan(number.toAttribute, skipped)
    // As LONGs, because the sum of two INTs may overflow.
    def long(e: Expression): Expression = Cast(e, LongType)
    val upTo = limit.limit.map(most =>
      LessThanOrEqual(long(number.toAttribute), Add(long(most), long(skipped), EvalMode.LEGACY)))
    val first = Filter((after +: upTo.toSeq).reduce(And), numbered)
    cut.history(first, below.values)
  }

  private def coalesced(rows: History): History =
    PeriodSweep.history(PeriodRule.Coalesce, Seq(SweepInput.left(rows)), rows.values, dataType)

  /** The rows with the grouping expressions as columns. */
  private def withKeys(
      below: History,
      keys: Seq[Expression],
      operator: String): (History, Seq[Attribute]) = {
    keys.find(!PeriodSweep.isComparable(_))
      .foreach(key => TemporalErrors.valueType(key.sql, key.dataType, operator))
    val rows = below.bounded(dataType)
    val columns: Seq[NamedExpression] = keys.map {
      case attribute: Attribute => attribute
      case other => Alias(other, "key")()
    }
    val added = columns.collect { case alias: Alias => alias }
    val plan = if (added.isEmpty) rows.plan else Project(rows.columns ++ added, rows.plan)
    (rows.copy(plan = plan), columns.map(_.toAttribute))
  }

  private def fragmented(rows: History, keys: Seq[Attribute]): Fragmented = {
    val copy = FreshAttributeCopy(rows)
    val others = copy.history
    val newKeys = keys.map(k => copy.of(k).asInstanceOf[Attribute])
    val cuts = PeriodSweep.of(PeriodRule.Cuts, Seq(SweepInput(others, newKeys, LeftSide)))
    val groups = cuts.output.take(keys.size)
    val (from, to) = (cuts.ends.head, cuts.ends.last)
    val sameGroup = keys.zip(groups).map { case (k, c) => EqualNullSafe(k, c) }
    val condition = (sameGroup :+ rows.period.get.contains(from)).reduce[Expression](And)
    val join = Join(rows.plan, cuts, Inner, Some(condition), JoinHint.NONE)
    Fragmented(join, groups, from, to)
  }
}
