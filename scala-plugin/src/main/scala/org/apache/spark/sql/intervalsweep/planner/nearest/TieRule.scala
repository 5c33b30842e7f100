// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions.{
  Ascending, Attribute, Descending, Expression, NullsFirst, NullsLast, RowOrdering, SortOrder
}
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches

/** The order of right rows with equal values: it does not depend on how the matches are found. */
private[planner] object TieRule {

  def of(node: NearestMatches, needed: Seq[Attribute]): Seq[SortOrder] =
    of(node.ties, node.value, node.right.output.filter(needed.contains))

  /**
   * The ties that the query defines, and then the greatest values of the columns that it reads.
   * The preferred row comes first.
   *
   * @param read these columns, in the order of the right side
   */
  def of(ties: Seq[SortOrder], value: Expression, read: Seq[Attribute]): Seq[SortOrder] =
    ties ++ read.filterNot(_.semanticEquals(value))
      .filter(a => RowOrdering.isOrderable(a.dataType)).map(SortOrder(_, Descending))

  /** The opposite order: the preferred row comes last. */
  def reversed(orders: Seq[SortOrder]): Seq[SortOrder] = orders.map { order =>
    val direction = if (order.direction == Ascending) Descending else Ascending
    val nulls = if (order.nullOrdering == NullsFirst) NullsLast else NullsFirst
    order.copy(direction = direction, nullOrdering = nulls)
  }
}
