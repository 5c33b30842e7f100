// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.streams.state.{
  JoinSchemaEvolution, JoinStateIdentity, RowFields
}

/**
 * How rows that are new on one side find partners of the other one.
 *
 * @param residual what a pair has to fulfil besides
 * @param isBand   whether that only says how far apart the numbers of two rows are: it holds for all
 *                 pairs of some rows if it does for the first of either side with the last of the other
 */
case class ProbePlan(sweeps: Seq[Sweep], residual: Option[Expression], isBand: Boolean)

/**
 * What the driver decides of a join of streams.
 *
 * @param earlier    by their fingerprints, the joins of fewer columns whose state is taken over
 * @param left       the attributes of a packed row of the left side
 * @param pairings   by the side whose rows are new
 * @param disorder   for rows that come by a number: how far behind the largest one they may be; by
 *                   a watermark, if that is not defined
 * @param spread     the sides whose rows go to all partitions, of which each keeps some
 * @param isCounted  whether the pairs of the left side's rows are counted and not returned
 * @param isRealTime whether a call has a row alone, and others of its micro-batch may follow
 */
case class StreamJoinSpec(
    description: String,
    fingerprint: JoinStateIdentity,
    earlier: Map[Int, Map[Side, JoinSchemaEvolution]],
    output: JoinOutput,
    left: Seq[Attribute],
    right: Seq[Attribute],
    fields: Map[Side, RowFields],
    pairings: Map[Side, ProbePlan],
    disorder: Option[Long],
    spread: Set[Side],
    isCounted: Boolean,
    isRealTime: Boolean = false) {

  def attributes(side: Side): Seq[Attribute] = if (side == LeftSide) left else right

  /** Where rows come by a number: up to which all have come, if that is the largest of them. */
  def arrived(largest: Long): Long =
    if (largest < Long.MinValue + disorder.get) Long.MinValue else largest - disorder.get

  /** Whether a row is done with its first match. */
  def endsAtMatch(side: Side): Boolean = !output.hasPairs && output.isTracked(side)
}
