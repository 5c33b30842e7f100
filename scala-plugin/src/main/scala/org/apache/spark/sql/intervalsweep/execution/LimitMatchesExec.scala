// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.intervalsweep.execution.aggregates.PartialMatches

/**
 * Keeps the best matches of each left row, above a join that keeps the best ones of each chunk.
 * Only a left row whose right rows do not fit into memory has matches from several chunks, as
 * partial rows.
 *
 * @param order over the columns of the join; the best matches come first
 * @param partialRowId the column of the join that identifies partial rows: see
 *   `SweepNode.partialRowId`
 */
case class LimitMatchesExec(
    count: Int,
    order: Seq[SortOrder],
    partialRowId: Attribute,
    child: SparkPlan)
    extends PartialRowsExec {
  override def nodeName: String = "LimitMatches"
  override def output: Seq[Attribute] = child.output.filter(_.exprId != partialRowId.exprId)
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override protected def partialRows: PartialMatches =
    PartialMatches(count, order, partialRowId, child.output, metrics)

  override protected def withNewChildInternal(newChild: SparkPlan): LimitMatchesExec =
    copy(child = newChild)
}
