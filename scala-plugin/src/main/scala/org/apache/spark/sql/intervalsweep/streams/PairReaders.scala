// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.{LeftSide, RightSide, Side, SweepNumber}
import org.apache.spark.sql.types.IntegerType

/** Rows as the join returns them, one pair at a time; what a task makes once. */
final class PairReaders(spec: StreamJoinSpec) {
  val left = new UnsafeRow(spec.left.size)
  val right = new UnsafeRow(spec.right.size)
  private val pair = new JoinedRow
  private val result = new JoinedRow
  private val noCounts = new GenericInternalRow(1)
  private val numbered = new JoinedRow
  private val number = new GenericInternalRow(1)
  private val nothing = Map[Side, InternalRow](
    LeftSide -> new GenericInternalRow(spec.left.size),
    RightSide -> new GenericInternalRow(spec.right.size))
  private val residuals: Map[Side, BasePredicate] = spec.pairings.flatMap { case (side, pairing) =>
    pairing.residual.map { e =>
      val sweep = AttributeReference("sweep", IntegerType, nullable = false)()
      side -> Predicate.create(
        SweepNumber.readFrom(sweep, e),
        spec.left ++ spec.right :+ sweep)
    }
  }
  residuals.values.foreach(_.initialize(0))

  def reader(side: Side): UnsafeRow = if (side == LeftSide) left else right

  /** Of the rows that [[left]] and [[right]] are. */
  def current: InternalRow = result(pair(left, right), noCounts)

  def holds(newSide: Side, sweep: Int): Boolean = residuals.get(newSide).forall { residual =>
    number.setInt(0, sweep)
    residual.eval(numbered(pair(left, right), number))
  }

  /** The row that the reader of a side is, without a partner. */
  def alone(side: Side): InternalRow =
    if (side == LeftSide) result(pair(left, nothing(RightSide)), noCounts)
    else result(pair(nothing(LeftSide), right), noCounts)

  /** A row of nothing else. */
  def only(counts: StreamJoinCounts): InternalRow =
    result(pair(nothing(LeftSide), nothing(RightSide)), InternalRow(counts.row))
}
