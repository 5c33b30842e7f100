// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side, SweepNumber}
import org.apache.spark.sql.intervalsweep.streams.state.RowFields
import org.apache.spark.sql.types.IntegerType

/** Builds the rows that the join returns, one pair at a time. A task creates it once. */
final class JoinedRowProjector(spec: StreamJoinSpec) {
  val left = new UnsafeRow(spec.left.size)
  val right = new UnsafeRow(spec.right.size)
  private val pair = new JoinedRow
  private val nothing = Map[Side, InternalRow](
    LeftSide -> new GenericInternalRow(spec.left.size),
    RightSide -> new GenericInternalRow(spec.right.size))

  private val count = new GenericInternalRow(spec.right.size)

  /** The residual condition of a pair, by the side whose rows are new. */
  val residual: Map[Side, Option[PairResidual]] = spec.pairings.map { case (side, pairing) =>
    side -> pairing.residual.map(new PairResidual(_, this, spec))
  }

  def reader(side: Side): UnsafeRow = if (side == LeftSide) left else right

  /** The pair of the rows that [[left]] and [[right]] point at. */
  def current: InternalRow = pair(left, right)

  /** The row that [[left]] points at, with its match count. */
  def counted(partners: Long): InternalRow = {
    count.update(RowFields.Clock, partners)
    pair(left, count)
  }

  /** The row that the reader of a side points at, as an unmatched row. */
  def unmatched(side: Side): InternalRow =
    if (side == LeftSide) pair(left, nothing(RightSide)) else pair(nothing(LeftSide), right)
}

/** The residual condition, evaluated for the current pair of `readers`. */
final class PairResidual(condition: Expression, readers: JoinedRowProjector, spec: StreamJoinSpec) {
  private val (numbered, sweep) = (new JoinedRow, new GenericInternalRow(1))
  private val predicate: BasePredicate = {
    val number = AttributeReference("sweep", IntegerType, nullable = false)()
    val input = spec.left ++ spec.right :+ number
    Predicate.create(SweepNumber.readFrom(number, condition), input)
  }
  predicate.initialize(0)

  /** Sets the number of the sweep that finds the next pairs. */
  def of(number: Int): Unit = sweep.setInt(0, number)

  def holds: Boolean = predicate.eval(numbered(readers.current, sweep))
}
