// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** What a broadcast packs, for adaptive execution to plan it again as rows that are packed. */
case class PackedSide(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): PackedSide =
    copy(child = newChild)
}
