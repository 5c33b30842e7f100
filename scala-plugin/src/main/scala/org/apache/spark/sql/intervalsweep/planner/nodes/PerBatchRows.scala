// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * Rows of a stream that are computed from each micro-batch by itself, like the rows of a table:
 * {{{
 *   PerBatchRows             a stream, which needs no state
 *     Aggregate [row, ...]     not a stream, for Spark: its groups are those of one micro-batch
 *       Join LEFT OUTER
 *         WithRowId              the rows of a micro-batch
 *           base                   a stream
 *         probe                  a table
 * }}}
 * Spark keeps the groups of a streaming aggregate for the next micro-batch, and refuses the
 * aggregate if no watermark tells when its groups end. Here each group is a row of the stream, so
 * no later micro-batch can add to it.
 */
private[planner] case class PerBatchRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def isStreaming: Boolean = true
  override protected def withNewChildInternal(newChild: LogicalPlan): PerBatchRows =
    copy(child = newChild)
}

private[planner] object PerBatchRows {

  def planned(rows: PerBatchRows, later: LogicalPlan => SparkPlan): SparkPlan =
    if (SparkShims.isRealTime(rows))
      StreamErrors.notInRealTime("A window union of a stream with a table")
    else later(rows.child)
}
