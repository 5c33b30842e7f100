// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.{
  BinaryNode, Join, JoinHint, LogicalPlan, Statistics
}

/**
 * Joins each left row with at most `count` of its matches: the last ones, the first ones or the
 * nearest ones by one value of the right rows. As-of joins, nearest-neighbour joins, and LATERAL
 * subqueries with ORDER BY and LIMIT become this node.
 *
 * {{{
 *   orders o LEFT JOIN LATERAL (              NearestMatches left outer, o, prices
 *     SELECT * FROM prices p                    condition  p.id = o.id AND p.at <= o.at
 *     WHERE p.id = o.id AND p.at <= o.at   ->   value      p.at, from its end
 *     ORDER BY p.at DESC LIMIT 1) ON true       count      1
 * }}}
 *
 * @param joinType INNER or LEFT OUTER
 * @param value    of the right rows; a row in which it is NULL is no match
 * @param center   of the left rows, if the nearest matches are kept: those for which the difference
 *                 of `value` and `center` is least. A row in which it is NULL has no match
 * @param fromEnd  without a center: whether the matches with the greatest values are kept, not those
 *                 with the least values
 * @param ties     the order of right rows that are equally good; the first one is preferred. Rows
 *                 that are equal in this order, too, are ordered by the columns that the query
 *                 reads: the row with the greatest value in the first column in which they differ
 *                 is preferred
 */
case class NearestMatches(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Expression,
    value: Expression,
    center: Option[Expression],
    fromEnd: Boolean,
    ties: Seq[SortOrder],
    count: Int)
    extends BinaryNode {

  override def output: Seq[Attribute] = join.output

  /** The join that has all matches. */
  def join: Join = Join(left, right, joinType, Some(condition), JoinHint.NONE)

  /** Spark would multiply the sizes of both sides. */
  override def stats: Statistics = {
    val rows = left.stats
    val width = output.map(_.dataType.defaultSize).sum + 8
    val own = left.output.map(_.dataType.defaultSize).sum + 8
    Statistics(sizeInBytes = (rows.sizeInBytes * width * count / own).max(1))
  }

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): NearestMatches = copy(left = newLeft, right = newRight)
}
