// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, UnaryNode}

/**
 * A watermark that stays below all filters:
 * {{{
 *   Filter failed                 stays here, as Spark pushes no filter through this node
 *     UnfilteredWatermark
 *       EventTimeWatermark ts     sees the event times of all rows
 * }}}
 * Spark's optimizer pushes a filter below the watermark if the filter does not read the event time.
 * The watermark would then wait for the next row that passes the filter. Until then, a stateful
 * operator would neither emit nor evict any row.
 */
case class UnfilteredWatermark(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnfilteredWatermark =
    copy(child = newChild)
}

private[partitioning] object UnfilteredWatermarks {

  /** The plan with such a node above each watermark. */
  def of(plan: LogicalPlan): LogicalPlan = plan match {
    case _: UnfilteredWatermark => plan
    case _: EventTimeWatermark => UnfilteredWatermark(plan)
    case _ => plan.mapChildren(of)
  }
}
