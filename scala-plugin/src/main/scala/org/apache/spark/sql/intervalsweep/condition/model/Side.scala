// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

/**
 * One of the two inputs of a join.
 *
 * @param number 0 for the left side, 1 for the right side
 */
sealed abstract class Side(val number: Int) extends Product with Serializable {
  def other: Side
}

object Side {

  /** The left side, then the right side: the side with number i is at i. */
  val all: IndexedSeq[Side] = IndexedSeq(LeftSide, RightSide)
}

case object LeftSide extends Side(0) {
  override def other: Side = RightSide
  override def toString: String = "left"
}

case object RightSide extends Side(1) {
  override def other: Side = LeftSide
  override def toString: String = "right"
}
