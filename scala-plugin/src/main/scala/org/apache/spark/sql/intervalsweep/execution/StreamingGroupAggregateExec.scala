// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.execution.{PartitioningPreservingUnaryExecNode, SparkPlan}
import org.apache.spark.sql.intervalsweep.execution.aggregates.PartialAggregates

/**
 * Aggregates over the matches of each row of a join's left side, without grouping and without a
 * shuffle. The join emits each left row once, except for partial rows (`partialRowId >= 0`), which
 * are merged here.
 *
 * {{{
 *   left row 1   sum 12   partialRowId -1      ->   emitted at once
 *   left row 2   sum  5   partialRowId  7      \
 *   left row 3   sum  8   partialRowId -1       |   emitted at once
 *   left row 2   sum  1   partialRowId  7      /    emitted as 6, after the task's last row
 * }}}
 *
 * A left row has partial rows in two cases: its key group does not fit into memory, or a sum might
 * leave its type. Spark then adds up the pairs, because Spark decides what happens on overflow.
 *
 * @param partialRowId the column of the join that identifies partial rows: see
 *   `SweepNode.partialRowId`
 */
case class StreamingGroupAggregateExec(
    results: Seq[NamedExpression],
    partialRowId: Attribute,
    child: SparkPlan)
    extends PartitioningPreservingUnaryExecNode with PartialRowsExec {
  override def nodeName: String = "StreamingGroupAggregate"
  override def output: Seq[Attribute] = results.map(_.toAttribute)
  override protected def outputExpressions: Seq[NamedExpression] = results

  override protected def partialRows: PartialAggregates =
    PartialAggregates(results, partialRowId, child.output, metrics)

  override protected def withNewChildInternal(newChild: SparkPlan): StreamingGroupAggregateExec =
    copy(child = newChild)
}
