// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.state.{
  SchemaEvolution, StateIdentity, StateLayout
}

/** The layout of the state of a stream join. */
private[streams] object JoinStateLayout {

  /**
   * @param output   the columns of each side. They are the last fields of a packed row
   * @param packed   the fields of a packed row
   * @param required columns that the join reads. An earlier query had them, too; it may lack some of
   *                 the columns behind them
   * @param identity the identity of the join over some numbers of columns
   */
  def apply(
      output: Map[Side, Seq[Attribute]],
      packed: Map[Side, Seq[Attribute]],
      required: AttributeSet)(identity: Map[Side, Int] => StateIdentity): StateLayout = {
    val all = output.map { case (side, columns) => side -> columns.size }
    def counts(side: Side): Seq[Int] = {
      val least = 1 + output(side).lastIndexWhere(required.contains)
      math.max(least, all(side) - SchemaEvolution.MostAdded) to all(side)
    }
    def evolution(side: Side, columns: Int): SchemaEvolution = {
      val fields = packed(side).size - all(side) + columns
      SchemaEvolution(fields, 0 until fields)
    }
    val earlier = for {
      l <- counts(LeftSide)
      r <- counts(RightSide)
      columns = Map[Side, Int](LeftSide -> l, RightSide -> r) if columns != all
    } yield identity(columns).digest -> columns.map { case (side, n) => side -> evolution(side, n) }
    StateLayout(
      packed.map { case (side, fields) => side -> fields.map(_.dataType) },
      identity(all),
      earlier.toMap)
  }
}
