// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.state.{RowFields, RowMarks, StateLayout}

/**
 * The decisions of the driver for a join of ongoing intervals.
 *
 * @param state      the layout of the stored rows
 * @param attributes the attributes of a packed row. The endpoints are start and end; the first
 *                   column is the id of the interval
 * @param residual   the residual condition of a pair
 */
case class OngoingJoinSpec(
    description: String,
    state: StateLayout,
    formula: OngoingCondition,
    attributes: Map[Side, Seq[Attribute]],
    fields: Map[Side, RowFields],
    residual: Option[Expression])

object OngoingJoinSpec {

  /** A row is done when a later row of its interval replaces it. */
  private[ongoing] val Marks: RowMarks =
    RowMarks(hasDone = true, doneLeaves = true, hasCounts = false)
}
