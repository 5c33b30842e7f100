// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.condition.expiry.NumberBand
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.streams.state.{RowFields, RowMarks, StateLayout}

/**
 * How new rows of one side find their matches on the other side.
 *
 * @param residual the residual condition of a pair
 * @param band     the band of row numbers that the residual sets, if it compares nothing else
 */
case class ProbePlan(sweeps: Seq[Sweep], residual: Option[Expression], band: Option[NumberBand])

/**
 * The decisions of the driver for a join of streams.
 *
 * @param state      the layout of the stored rows
 * @param left       the attributes of a packed row of the left side, and likewise `right`
 * @param pairings   the probe plan, by the side whose rows are new
 * @param disorder   in a join by row numbers, how far behind the largest number a row may be; None
 *                   in a join by event time
 * @param inOrder    the column of row numbers, if its disorder is not declared: a row that is behind
 *                   an earlier one is then an error
 * @param spread     the sides whose rows go to all partitions, where one partition stores each row
 * @param isCounted  whether the matches of left rows are counted and not returned
 * @param isRealTime whether a call has one row, and more rows of its micro-batch may follow
 */
case class StreamJoinSpec(
    description: String,
    state: StateLayout,
    output: JoinOutput,
    left: Seq[Attribute],
    right: Seq[Attribute],
    fields: Map[Side, RowFields],
    pairings: Map[Side, ProbePlan],
    disorder: Option[Long],
    inOrder: Option[String],
    spread: Set[Side],
    isCounted: Boolean,
    isRealTime: Boolean = false) {

  def attributes(side: Side): Seq[Attribute] = if (side == LeftSide) left else right

  /** The number up to which all rows have arrived, if `largest` is the largest number so far. */
  def arrived(largest: Long): Long =
    if (largest < Long.MinValue + disorder.get) Long.MinValue else largest - disorder.get

  /** The facts that the join notes about each stored row of a side. */
  def marks(side: Side): RowMarks = {
    val isTracked = output.isTracked(side)
    RowMarks(isTracked, doneLeaves = endsAtMatch(side), hasCounts = isCounted && isTracked)
  }

  /** Whether the first match of a row of that side makes it done, as in semi and anti joins. */
  def endsAtMatch(side: Side): Boolean = !output.hasPairs && output.isTracked(side)
}
