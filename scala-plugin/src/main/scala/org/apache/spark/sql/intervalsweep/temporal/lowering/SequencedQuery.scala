// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{
  AnsiTypeCoercion, CollationTypeCoercion, TypeCoercion
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{EndpointEncoding, PeriodEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.fragments.ResultForm
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  GivenBound, History, Period, PeriodSweep, Refused, RuleNames, TemporalErrors, TemporalPlan,
  ValidTime
}
import org.apache.spark.sql.types._

/**
 * The result of `sequenced`: the history of a query, or its rows at an instant.
 *
 * @param period the part of the history that is returned
 * @param at     the instant
 * @param rules  rules that rewrite the query, except those that the session excludes
 * @param form   the form of the periods in the result
 * @param function the function that the user calls, for errors
 * @param isPlain whether the query is a result of [[SequencedQuery.plain]]
 */
private[temporal] case class SequencedQuery(
    query: LogicalPlan,
    period: Option[(Expression, Expression)],
    at: Option[Expression],
    coalesce: Boolean,
    names: Option[(String, String)],
    rules: Seq[Rule[LogicalPlan]],
    form: ResultForm = ResultForm.HalfOpen,
    function: String = "sequenced",
    isPlain: Boolean = false) {

  private val conf = SQLConf.get
  private val asWritten = if (isPlain) query else SequencedQuery.plain(query)
  private val (plain, fired) = rewritten(asWritten)
  private val leaves = TemporalPlan.leaves(plain)
  if (leaves.isEmpty) TemporalErrors.notMarked()

  private val dataType: DataType = {
    val bounds = (period.toSeq.flatMap(p => Seq(p._1, p._2)) ++ at)
      .filterNot(b => b.dataType == NullType || b.dataType.isInstanceOf[StringType])
    commonType(leaves.map(_.start) ++ bounds)
  }

  /**
   * Gives each sweep the names of the rules that changed its query. Sweeps of an inner query have
   * theirs already.
   */
  def plan: LogicalPlan = SequencedQuery.belowViews(
    query,
    lowered.transformUp {
      case sweep: PeriodSweep if sweep.fired.isEmpty => sweep.firedBy(fired)
    })

  private val instant = at.map(bound("at").typed)
  private val bounds = period.map { case (from, to) => bound("period").ordered(from, to) }
  private val asked: Option[AskedPeriod] =
    bounds.map { case (from, to) => AskedPeriod(from, to, isInstant = false) }
      .orElse(instant.map(x => AskedPeriod(x, x, isInstant = true)))

  private def lowered: LogicalPlan = instant match {
    case Some(instant) if !TemporalPlan.hasOperators(asWritten) => snapshot(asWritten, instant)
    case Some(instant) =>
      val rows = history
      val number = PeriodEndpoint(instant, isEnd = false)
      Project(rows.values, Filter(rows.period.get.contains(number), rows.plan))
    case None => ordered
  }

  private def rewritten(plan: LogicalPlan): (LogicalPlan, Seq[String]) = {
    val names = mutable.LinkedHashSet.empty[String]
    val excluded = conf.optimizerExcludedRules.toSeq.flatMap(_.split(',').map(_.trim))
    val used = rules.filterNot(rule => excluded.contains(rule.ruleName))
    // The rewriting ends: each rule removes operators or moves them down.
    def once(p: LogicalPlan): LogicalPlan = used.foldLeft(p) { (q, rule) =>
      val changed = rule(q)
      if (!changed.fastEquals(q)) names += RuleNames.short(rule)
      changed
    }
    val last = Iterator.iterate(plan)(once).sliding(2).take(SequencedQuery.MostRounds)
      .find(two => two.head.fastEquals(two.last)).fold(once(plan))(_.last)
    (last, names.toSeq)
  }

  /** At a single instant, each operator stays the same and reads the rows that are valid then. */
  private def snapshot(plan: LogicalPlan, instant: Expression): LogicalPlan = {
    Refused.checkStreams(plan)
    plan.transformUpWithSubqueries { case relation: ValidTime =>
      ValidTimeLeaf(relation, asked).snapshot(instant, dataType)
    }
  }

  private def prepared(query: LogicalPlan): LogicalPlan =
    PruneUnreadColumns(DistinctAggregates(Decorrelation(query)))

  private def history: History = {
    Refused.check(plain)
    Sequenced(dataType, asked).history(prepared(plain))
  }

  /** An ORDER BY at the top orders the rows of the history. */
  private def ordered: LogicalPlan = plain match {
    case Sort(order, true, child, _) => result(child, child.output, order)
    // Some of the columns in ORDER BY are not returned.
    case Project(columns, Sort(order, true, child, _)) =>
      val returned = AttributeSet(columns.map(_.toAttribute))
      val hidden = AttributeSet(order.flatMap(_.references)).filterNot(returned.contains).toSeq
      // Rows that become one may differ in the columns that are not returned, so those cannot
      // order the result.
      if (coalesce)
        result(
          Project(columns, child),
          columns.map(_.toAttribute),
          order.takeWhile(_.references.subsetOf(returned)))
      else result(Project(columns ++ hidden, child), columns.map(_.toAttribute), order)
    case other => result(other, other.output, Nil)
  }

  private def result(
      query: LogicalPlan,
      columns: Seq[Attribute],
      order: Seq[SortOrder]): LogicalPlan = {
    Refused.check(query)
    val lowering = Sequenced(dataType, asked)
    val rows = clipped(lowering.history(prepared(query)).bounded(dataType))
    val all = if (coalesce) lowering.coalesced(rows) else rows
    val sorted = if (order.isEmpty) all.plan else Sort(order, global = true, all.plan)
    val (from, to) = periodNames(columns)
    val Period(start, end) = all.period.get
    val shown = Seq(
      Alias(form.start(start, dataType), from)(),
      Alias(form.end(end, dataType), to)())
    Project(columns ++ shown, sorted)
  }

  private def clipped(rows: History): History = bounds.fold(rows) { case (from, to) =>
    val both = History.of(rows.plan, rows.values ++ rows.period.get.columns, from, to)
    val (asked, own) = (both.period.get, rows.period.get)
    val overlap = And(LessThan(asked.from, own.to), LessThan(own.from, asked.to))
    val some = And(overlap, LessThan(asked.from, asked.to))
    val (start, end) = own.overlap(asked)
    History.of(Filter(some, both.plan), rows.values, start, end)
  }

  private def periodNames(columns: Seq[Attribute]): (String, String) = {
    val (from, to) = names.getOrElse(leaves.head.names)
    Seq(from, to).find(n => columns.exists(c => conf.resolver(c.name, n)))
      .orElse(Option.when(conf.resolver(from, to))(from))
      .foreach(TemporalErrors.periodName(_, columns.map(_.name)))
    (from, to)
  }

  private def bound(option: String) = GivenBound(function, option, dataType)

  /** The common type of all periods, by the rules for the arguments of GREATEST. */
  private def commonType(ends: Seq[Expression]): DataType = {
    def fail(cure: String): Nothing = TemporalErrors.periodType(ends.map(_.dataType), cure)
    val rules = if (conf.ansiEnabled) AnsiTypeCoercion else TypeCoercion
    val types = ends.map(e => Literal.create(null, e.dataType))
    val common =
      if (types.map(_.dataType).distinct.size == 1) types.head.dataType
      else {
        val coerced =
          CollationTypeCoercion(rules.FunctionArgumentTypeCoercion(Greatest(types))).children
        if (!TypeCoercion.haveSameType(coerced.map(_.dataType))) fail("cast them to one type")
        coerced.head.dataType
      }
    if (!EndpointEncoding.isExact(common))
      fail("use numbers, DECIMAL of at most 18 digits, DATE, TIMESTAMP or INTERVAL")
    common
  }
}

private[temporal] object SequencedQuery {
  private val MostRounds = 10

  /** A checked query without WITH clauses, views and aliases. */
  def plain(query: LogicalPlan): LogicalPlan = {
    val known = query.collectWithSubqueries { case c: WithCTE => c.cteDefs.map(_.id) }.flatten
    query.foreachWithSubqueries {
      case ref: CTERelationRef if !known.contains(ref.cteId) => TemporalErrors.outerCte()
      case _ =>
    }
    SparkSession.active.sessionState.analyzer.checkAnalysis(query)
    val inlined = new InlineCTE(alwaysInline = true)(query)
    UnmarkedRelations.check(inlined)
    Decorrelation.plain(inlined)
  }

  /**
   * The lowered query has no views. A view over it stores the text of the query, and the names of
   * the temporary views that Spark finds in the plan, so these stay on top.
   */
  def belowViews(query: LogicalPlan, plan: LogicalPlan): LogicalPlan =
    query.collectWithSubqueries { case view: View if view.isTempView => view }
      .distinctBy(_.desc.identifier)
      .foldLeft(plan)((child, view) => view.copy(child = child))
}
