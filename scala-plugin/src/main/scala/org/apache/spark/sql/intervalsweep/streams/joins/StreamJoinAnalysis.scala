// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, Bound, LeftSide, RightSide, Side, SweepCondition, SweepOptions
}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Conjuncts
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.execution.block.RowKeys
import org.apache.spark.sql.intervalsweep.streams.eventtime.{JoinWatermarks, StreamErrors}
import org.apache.spark.sql.intervalsweep.streams.state.RowFields

/**
 * The condition of a join of streams: its clocks, keys and sweeps. Fails if the state of the join
 * would have no bound.
 *
 * @param condition the join condition, with inlined replaceable expressions
 */
private[streams] final class StreamJoinAnalysis(val join: Join, val condition: Expression)
    extends PredicateHelper {
  def input(side: Side): LogicalPlan = if (side == LeftSide) join.left else join.right

  val clocks: JoinWatermarks = JoinWatermarks(join, condition)

  /** Whether the join is in a window of row numbers: a row's expiry does not depend on its key. */
  val isOfRows =
    clocks.disorder.isDefined && !Conjuncts.of(condition).exists(_.relation.isDefined)

  /**
   * (residual, swept conjuncts). The window of a join by inequalities bounds its state, but almost
   * all stored rows are in it. So it becomes a residual if the other conjuncts have two axes.
   */
  private val (apart, swept) = {
    val conjuncts = splitConjunctivePredicates(condition)
    val window = clocks.window(conjuncts.filterNot(e => isOfRows && isKey(e)))
    val rest = conjuncts.diff(window).reduceOption(And)
    val hasTwoAxes = rest.flatMap(analyzed(_, None)).exists(_.sweeps.forall(_.second.isDefined))
    if (window.nonEmpty && hasTwoAxes) (window, rest.get) else (Nil, condition)
  }

  private def isKey(e: Expression): Boolean =
    ConditionAnalysis.keys(e, join.left.outputSet, join.right.outputSet).isDefined

  /** The condition as sweeps, by the side whose rows are new. These are the boxes if possible. */
  val sweeps: Map[Side, SweepCondition] = {
    val either = Side.all.flatMap { side =>
      analyzed(swept, Some(side)).filter(_.sweeps.forall(_.boxes == side)).map(side -> _)
    }
    if (either.size == 2) either.toMap
    else {
      val any = analyzed(swept, None)
        .getOrElse(throw new IllegalStateException(s"no sweep for ${condition.sql}"))
      Side.all.map(_ -> any).toMap
    }
  }

  private def analyzed(e: Expression, boxes: Option[Side]): Option[SweepCondition] =
    ConditionAnalysis.of(
      e,
      join.left.outputSet,
      join.right.outputSet,
      SweepOptions(forcedBoxes = boxes, weakRanges = true, functionsAsAxes = true)).toOption

  /** The equi-join keys of each side. */
  val keys: Map[Side, Seq[Expression]] = Side.all.map(s => s -> sweeps(LeftSide).keys(s)).toMap
  val isKeyed = keys(LeftSide).nonEmpty

  /** Whether the key is a number, which identifies it. Otherwise a hash of the key is stored. */
  val hasNumberForKey = isKeyed && Side.all.forall(s => RowKeys.isNumber(keys(s)))

  /** The endpoints of a side that either probe plan reads, each once. */
  val endpoints: Map[Side, Seq[Expression]] = Side.all.map { side =>
    side -> Side.all.flatMap(sweeps(_).endpoints(side)).foldLeft(Seq.empty[Expression]) {
      (all, e) =>
        if (all.exists(_.semanticEquals(e))) all else all :+ e
    }
  }.toMap

  /** The number of an endpoint among [[endpoints]], from its number in the sweeps of `newSide`. */
  private def newIndex(newSide: Side, side: Side)(old: Int): Int =
    endpoints(side).indexWhere(_.semanticEquals(sweeps(newSide).endpoints(side)(old)))

  /** How new rows of a side find their matches. */
  val pairings: Map[Side, ProbePlan] = Side.all.map { newSide =>
    val sweep = sweeps(newSide)
    val moved = sweep.sweeps.map { s =>
      def bound(b: Bound): Bound = b.copy(endpoint = newIndex(newSide, s.boxes)(b.endpoint))
      def axis(a: Axis): Axis =
        Axis(newIndex(newSide, s.points)(a.point), a.lower.map(bound), a.upper.map(bound))
      s.copy(lead = axis(s.lead), second = s.second.map(axis))
    }
    // If an error must be raised for matching pairs, re-evaluate the whole original condition.
    val rest = if (sweep.hasChecks) Seq(condition) else apart ++ sweep.residual
    val sameKeys =
      if (!isKeyed || hasNumberForKey) Nil
      else keys(LeftSide).zip(keys(RightSide)).map { case (l, r) => EqualTo(l, r) }
    val band = if (sameKeys.isEmpty) clocks.band(rest) else None
    newSide -> ProbePlan(moved, (sameKeys ++ rest).reduceOption(And), band)
  }.toMap

  checkResidual()

  private def checkResidual(): Unit =
    pairings.values.flatMap(_.residual).foreach { e =>
      if (e.containsPattern(TreePattern.CURRENT_LIKE))
        StreamErrors.cannotJoin(
          s"Conditions that depend on the current time, such as ${e.sql},",
          "compare columns, such as one that was computed before the join")
      if (e.containsAnyPattern(TreePattern.PLAN_EXPRESSION, TreePattern.PYTHON_UDF))
        StreamErrors.cannotJoin(
          s"Conditions with subqueries or Python functions, such as ${e.sql},",
          "filter the result of the join instead")
    }

  /** The layout of a side's packed rows. */
  def fields(side: Side): RowFields = {
    val by = sweeps(side.other).sortEndpoint(side)
    RowFields(endpoints(side).size, input(side).output.size, newIndex(side.other, side)(by))
  }
}
