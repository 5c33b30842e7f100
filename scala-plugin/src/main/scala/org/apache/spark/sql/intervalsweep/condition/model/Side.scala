// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/** One of the two inputs of a join. */
sealed trait Side {
  def other: Side
}

case object LeftSide extends Side {
  override def other: Side = RightSide
  override def toString: String = "left"
}

case object RightSide extends Side {
  override def other: Side = LeftSide
  override def toString: String = "right"
}
