// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression, SortOrder}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.intervalsweep.condition.model.{
  JoinOutput, MatchLimit, Side, SweepCondition
}
import org.apache.spark.sql.intervalsweep.execution.aggregates.RunLayout

/**
 * The description of a join that its execution needs: its inputs, its condition, and its output.
 */
trait SweepNode extends SparkPlan {
  def input(side: Side): SparkPlan

  def mode: SweepMode

  def sweepCondition: SweepCondition

  /** The output of the join: pairs, and unpaired rows. */
  def joinOutput: JoinOutput

  /** Which of the matches of a left row the join returns, if not all. */
  def limit: Option[MatchLimit]

  /** Whether the matches of a row are looked through until a limit is reached. */
  def isSearched: Boolean = limit.isDefined && sweepCondition.residual.isDefined

  /**
   * The order of right rows with equal lead coordinates, for joins with a [[limit]]. See
   * [[MatchLimit]] for which of them are preferred.
   */
  def ties: Seq[SortOrder]

  /** The column of an existence join: true if the row has a match. */
  def existence: Option[Attribute]

  /**
   * Aggregates over the pairs of a run, if the plan above needs no single pairs; see `MatchRuns`.
   */
  def runs: Option[Seq[NamedExpression]]

  /**
   * The column that identifies partial rows, that is output rows that belong to the same row of the
   * left side. Its value is the number of the left row in the task, or -1 if the left row has a
   * single output row. It requires that the left side is the probe side, and that each of its rows
   * is one box of one sweep.
   */
  def partialRowId: Option[Attribute]

  /** Where the values of `runs` come from. */
  def runLayout: Option[RunLayout]

  /** The columns of a side that are read for each pair. */
  def payload(side: Side): Seq[Attribute]
}
