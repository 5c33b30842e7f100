// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.state.{JoinSchemaEvolution, JoinStateIdentity}

/**
 * What the driver decides of a join of intervals that are still open.
 *
 * @param earlier by their fingerprints, the joins of fewer columns whose state is taken over
 * @param clocks of each side the field of its packed rows by which they are late
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

  /** Of packed rows of a side. */
  def fields(side: Int): Seq[Attribute] = if (side == 0) left else right
}
