// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import org.apache.spark.sql.catalyst.expressions.{
  Alias, And, Attribute, AttributeMap, AttributeSet, Expression, Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern.{CURRENT_LIKE, PLAN_EXPRESSION, PYTHON_UDF}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.functions.WindowMark
import org.apache.spark.sql.intervalsweep.planner.laterals.{
  CorrelatedSubquery, LateralWindow, MatchOrder
}
import org.apache.spark.sql.intervalsweep.planner.nearest.TieRule
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide
import org.apache.spark.sql.intervalsweep.streams.windows.{
  BaseColumns, MatchedColumns, WindowLimit, WindowUnionOutput, WindowUnionSpec
}

/**
 * The plan of a window union of two streams: it reads the window from the conditions of the
 * subquery, collects the columns of both sides, and names the columns of the operator like those of
 * the query.
 *
 * Invariant: the state stores the columns of a side in the order in which the side collects them. A
 * checkpoint depends on this order.
 */
private[planner] final class WindowUnionPlan(
    base: LogicalPlan,
    lateral: LateralWindow,
    matched: Option[MatchedColumns] = None) {
  lateral.limit.foreach(checkOrder)

  private val clocks = WindowClocks.of(base, lateral)
  import clocks.{base => baseTime, probe => probeTime, window}

  private val parts = WindowCondition(clocks.others, base.outputSet, lateral.probe.outputSet)
  private val bases = new SideColumns(base, base.output)
  private val probes = new SideColumns(
    parts.probeOnly.reduceOption(And).fold(lateral.probe)(Filter(_, lateral.probe)),
    Nil)
  private val aggregates = new WindowAggregates(probes)

  private val baseColumns: BaseColumns = {
    val keys = parts.keys.map { case (key, _) => bases.of(key) }
    val (lower, upper) = (window.lower.bound.map(bases.of), window.upper.bound.map(bases.of))
    val revision = Option.when(lateral.isEager)(bases.of(Literal(0)))
    BaseColumns(
      StreamSide("base", bases.columns, keys, baseTime),
      base.output,
      lower,
      upper,
      revision)
  }

  /** The probe side, and the selected columns over the results of `aggregates`. */
  private val (probeSide, selected) = {
    val keys = parts.keys.map { case (_, key) => probes.of(key) }
    val time = probes.of(probeTime)
    val results = lateral.results.map(aggregates.of)
    matched.toSeq.flatMap(_.columns).foreach(probes.of)
    lateral.limit.toSeq.flatMap(_.ties).foreach(tie => probes.ofAll(tie.child))
    parts.residual.foreach(probes.ofAll)
    (StreamSide("probe", probes.columns, keys, time), results)
  }

  def plan: LogicalPlan = {
    val operator = StreamOperator(spec, Seq(bases.plan, probes.plan))
    val own = baseOutput(operator.output)
    Project(own ++ subqueryOutput(operator.output, own), operator.plan)
  }

  private def spec: WindowUnionSpec = {
    (parts.residual ++ aggregates.results.map(_.function)).foreach(checkEvaluable)
    WindowUnionSpec(
      baseColumns,
      probeSide,
      window,
      aggregates.results,
      parts.residual.reduceOption(And),
      lateral.limit.map(limitOf),
      matched,
      if (parts.keys.isEmpty) 0 else SQLConf.get.getConf(IntervalSweepConf.StreamFanout),
      math.max(StreamOperator.delay(baseTime), StreamOperator.delay(probeTime)) * 1000)
  }

  private def checkOrder(order: MatchOrder): Unit =
    lateral.probe.output.filter(StreamOperator.hasWatermark).headOption
      .filterNot(_ => StreamOperator.isWatermarked(order.value)).foreach { time =>
        StreamErrors.unsupported(
          s"ORDER BY ${order.value.sql} with LIMIT in a subquery",
          s"order by ${time.name}, the column with the watermark")
      }

  /** The limit of a window, whose rows are sorted by their event time. */
  private def limitOf(order: MatchOrder): WindowLimit = {
    if (window.lower.isUnbounded) parts.residual.headOption.foreach { further =>
      StreamErrors.unsupported(
        s"The condition ${further.sql} on the last row of all earlier ones",
        s"add a lower bound of ${probeTime.name}, such as ${probeTime.name} >= " +
          s"${baseTime.name} - INTERVAL '1' DAY, or make the condition a column of one stream")
    }
    val read = AttributeSet(
      matched.fold(lateral.functions.flatMap(_.references))(_.columns.map(_.toAttribute)))
    val ties = TieRule.of(order.ties, order.value, lateral.probe.output.filter(read.contains))
    WindowLimit(order.fromEnd, order.count, if (order.fromEnd) TieRule.reversed(ties) else ties)
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

  /** The base columns, under their names in the query. */
  private def baseOutput(output: WindowUnionOutput): Seq[Alias] =
    base.output.zip(output.payload).map { case (column, field) =>
      val keeps = column.exprId == baseTime.exprId && !losesWatermark
      val metadata =
        if (keeps) column.metadata else StreamOperator.withoutWatermark(column.metadata)
      Alias(field, column.name)(column.exprId, column.qualifier, Some(metadata))
    }

  /**
   * Whether the time of the base rows loses its watermark. Another base column with a watermark
   * always does, as nothing says when the rows are emitted by this column. A base row that waits
   * for the end of its window is emitted when the watermark has passed its event time. The column
   * loses its watermark, too, if the subquery returns a column with one, `window_event_time()`.
   */
  private def losesWatermark: Boolean =
    lateral.isEager || window.upper.offset + window.upper.slack > 0 ||
      lateral.output.exists(StreamOperator.hasWatermark)

  /** The columns of the subquery, which may read columns of the base row too. */
  private def subqueryOutput(output: WindowUnionOutput, own: Seq[Alias]): Seq[Alias] = {
    val ofBase = AttributeMap(own.map(a => a.toAttribute -> a.child))
    def field(a: Attribute): Expression =
      aggregates.ordinal(a).fold(ofBase.getOrElse(a, a))(output.results(_))
    val rows = matched.toSeq.flatMap(_.columns).zip(output.results).map { case (column, field) =>
      val metadata = StreamOperator.withoutWatermark(column.metadata)
      Alias(field, column.name)(column.exprId, column.qualifier, Some(metadata))
    }
    rows ++ selected.zip(lateral.output).map { case (value, column) =>
      val e = CorrelatedSubquery.valueOf(value).transform {
        case a: Attribute => field(a)
        case WindowMark(isFinal) => (if (isFinal) output.isFinal else output.revision).get
      }
      Alias(e, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
  }
}
