// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.state.{JoinSchemaEvolution, JoinStateIdentity}

/**
 * The decisions of the driver for a join of ongoing intervals.
 *
 * @param earlier fingerprint -> row layout, for forms with fewer columns whose state can be
 *                migrated
 * @param clocks  for each side the field of its packed rows that decides whether a row is late
 */
case class OngoingJoinSpec(
    description: String,
    fingerprint: JoinStateIdentity,
    earlier: Map[Int, Map[Side, JoinSchemaEvolution]],
    formula: OngoingCondition,
    clocks: Seq[Int],
    left: Seq[Attribute],
    right: Seq[Attribute],
    residual: Option[Expression]) {

  /** The fields of the packed rows of a side. */
  def fields(side: Int): Seq[Attribute] = if (side == 0) left else right
}
