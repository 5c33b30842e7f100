// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{
  CURRENT_LIKE, LATERAL_JOIN, PLAN_EXPRESSION, PYTHON_UDF, SCALAR_SUBQUERY
}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.expiry.TimeWindow
import org.apache.spark.sql.intervalsweep.condition.reading.InlineReplaceable
import org.apache.spark.sql.intervalsweep.functions.WindowMark
import org.apache.spark.sql.intervalsweep.planner.laterals.{
  LateralWindow, ScalarSubqueries, WindowCounts
}
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide
import org.apache.spark.sql.intervalsweep.streams.windows.WindowUnion
import org.apache.spark.sql.streaming.OutputMode

/**
 * Replaces window unions of two streams, which Spark refuses, by a stateful operator:
 * {{{
 *   S LEFT JOIN LATERAL (SELECT sum(v), count(*) FROM R
 *     WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL ... AND S.ts) ON true
 *
 *   Project [S.*, the aggregates]
 *     TransformWithState [partition] WindowUnion
 *       Union
 *         PartitionedBatches  Project [S.*]           S
 *         PartitionedBatches  Project [k, ts, v]      R
 * }}}
 * This is a rule of the analyzer: Spark checks there what it supports, and takes the lateral
 * subquery apart soon after.
 */
object StreamWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.Enabled)) plan
    else plan.resolveOperatorsUpWithPruning(_.containsAnyPattern(LATERAL_JOIN, SCALAR_SUBQUERY)) {
      case join @ LateralJoin(base, subquery, Inner | LeftOuter, condition)
          if join.resolved && condition.forall(InlineReplaceable(_) == Literal.TrueLiteral) =>
        joined(base, subquery.plan).getOrElse(join)
      case filter: Filter if filter.resolved && scalars.areIn(filter.condition) =>
        scalars.of(filter)
      case project: Project if project.resolved && project.projectList.exists(scalars.areIn) =>
        scalars.of(project)
    }

  private val scalars = new ScalarSubqueries(joined)

  private def joined(base: LogicalPlan, subquery: LogicalPlan): Option[LogicalPlan] =
    if (base.isStreaming && subquery.isStreaming)
      LateralWindow.of(base, subquery).map { lateral =>
        if (WindowCounts.isAsked(base, lateral)) WindowCounts(base, lateral)
        else windowUnion(base, lateral)
      }
    else None

  private def windowUnion(base: LogicalPlan, lateral: LateralWindow): LogicalPlan = {
    val baseTime = StreamOperator.eventTime("base stream", base)
    val probeTime = StreamOperator.eventTime("probe stream", lateral.probe)
    val condition = lateral.conditions.reduceOption(And).getOrElse(Literal.TrueLiteral)
    val found = TimeWindow.of(condition, baseTime, probeTime)
    val window = found.window.getOrElse {
      StreamErrors.unboundedState(found.missing.mkString(" and "), baseTime.name, probeTime.name)
    }
    val parts = ConditionParts(found.others, base.outputSet, lateral.probe.outputSet)
    val bases = new SideColumns(base, base.output)
    val probes = new SideColumns(
      parts.probeOnly.reduceOption(And).fold(lateral.probe)(Filter(_, lateral.probe)),
      Nil)
    val baseKeys = parts.keys.map { case (key, _) => bases.of(key) }
    val probeKeys = parts.keys.map { case (_, key) => probes.of(key) }
    val time = probes.of(probeTime)
    val (lower, upper) = (window.lower.bound.map(bases.of), window.upper.bound.map(bases.of))
    val revision = Option.when(lateral.isEager)(bases.of(Literal(0)))
    val aggregates = new WindowAggregates(probes)
    val results = lateral.results.map(aggregates.of)
    parts.residual.foreach(probes.ofAll)
    (parts.residual ++ aggregates.results.map(_.function)).foreach(checkEvaluable)
    val machine = WindowUnion(
      StreamSide("base", bases.columns, baseKeys, baseTime),
      base.output,
      lower,
      upper,
      StreamSide("probe", probes.columns, probeKeys, time),
      window,
      aggregates.results,
      parts.residual.reduceOption(And),
      revision,
      if (baseKeys.isEmpty) 0 else conf.getConf(IntervalSweepConf.StreamFanout),
      math.max(StreamOperator.delay(baseTime), StreamOperator.delay(probeTime)) * 1000)
    val mode = if (lateral.isEager) OutputMode.Update() else OutputMode.Append()
    val operator = StreamOperator(machine, Seq(bases.plan, probes.plan), mode)
    // A base row that waits for the end of its window is emitted when the watermark has passed its
    // event time, so its columns lose their watermark. They lose it too if the subquery returns a
    // column with a watermark, `window_event_time()`.
    val isLate = lateral.isEager || window.upper.offset + window.upper.slack > 0 ||
      lateral.output.exists(StreamOperator.hasWatermark)
    val own = base.output.zipWithIndex.map { case (column, i) =>
      val metadata =
        if (isLate) StreamOperator.withoutWatermark(column.metadata) else column.metadata
      operator.column(i, column, metadata)
    }
    val values = results.map { result =>
      result.transform {
        case a: Attribute =>
          aggregates.ordinal(a).fold[Expression](a)(i => operator.fields(base.output.size + i))
        case WindowMark(isFinal) =>
          operator.fields(machine.output.size - (if (isFinal) 1 else 2))
      }.asInstanceOf[NamedExpression]
    }
    withBaseColumns(own, values, lateral.output, operator.plan)
  }

  /**
   * Raises an error for an expression that the stateful operator cannot evaluate row by row: one
   * that is not deterministic, or has a subquery, a Python function or the current time.
   */
  private def checkEvaluable(e: Expression): Unit = {
    val isFixed = e.deterministic &&
      !e.containsAnyPattern(PLAN_EXPRESSION, PYTHON_UDF, CURRENT_LIKE)
    if (!isFixed) StreamErrors.unsupported(
      s"${e.sql} in the lateral subquery",
      "compute it as a column of the stream that it reads")
  }

  /** The base columns and the selected values, which may read columns of the base row too. */
  private def withBaseColumns(
      own: Seq[Alias],
      values: Seq[NamedExpression],
      columns: Seq[Attribute],
      plan: LogicalPlan): LogicalPlan = {
    val fields = AttributeMap(own.map(a => a.toAttribute -> a.child))
    val named = values.zip(columns).map { case (value, column) =>
      val e = LateralWindow.valueOf(value).transform { case a: Attribute => fields.getOrElse(a, a) }
      Alias(e, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
    Project(own ++ named, plan)
  }
}
