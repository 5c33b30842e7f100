// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, Side, SweepCondition}
import org.apache.spark.sql.intervalsweep.execution.aggregates.RunLayout

/** What is known of a join when it is executed: its inputs, its condition, and what is emitted. */
trait SweepNode extends SparkPlan {
  def input(side: Side): SparkPlan

  def mode: SweepMode

  def sweepCondition: SweepCondition

  /** What is emitted: pairs, and rows of one side alone. */
  def joinOutput: JoinOutput

  /** The column of an existence join that says whether there is a match. */
  def existence: Option[Attribute]

  /** What is computed of the pairs of a run together, where that is enough; see `MatchRuns`. */
  def runs: Option[Seq[NamedExpression]]

  /**
   * The column that tells which rows are pieces of one row of the left side, where each is one box
   * of one sweep and streams: its number in the task, or -1 where there is but one piece.
   */
  def partialRowId: Option[Attribute]

  /** Where the values of runs come from. */
  def runLayout: Option[RunLayout]

  /** The columns of a side that are read for each pair. */
  def payload(side: Side): Seq[Attribute]
}
