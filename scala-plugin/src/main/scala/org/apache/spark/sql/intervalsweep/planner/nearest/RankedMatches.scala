// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.planner.nodes.{NearestMatches, RowId}
import org.apache.spark.sql.types.{DecimalType, DoubleType, FloatType}

/**
 * [[NearestMatches]] by Spark's operators: all matches are made, and ranked for each left row. It
 * takes any condition and any value.
 *
 * {{{
 *   Filter rank <= count
 *     Window [row_number() OVER (PARTITION BY row ORDER BY by, ties) AS rank]
 *       Join left with a row id, right
 * }}}
 */
private[nearest] object RankedMatches {

  /** @param ties the order of right rows that are equally good; the first one is preferred */
  def apply(node: NearestMatches, ties: Seq[SortOrder]): LogicalPlan = {
    val row = Alias(RowId(), "row")()
    val numbered = Project(node.left.output :+ row, node.left)
    val known = (node.value +: node.center.toSeq).map(IsNotNull(_))
    val condition = (node.condition +: known).reduce(And)
    val matches = node.join.copy(left = numbered, condition = Some(condition))
    val order = nearestFirst(node) ++ ties
    val frame = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
    val window = WindowSpecDefinition(Seq(row.toAttribute), order, frame)
    val rank = Alias(WindowExpression(RowNumber(), window), "rank")()
    val ranked = Window(Seq(rank), Seq(row.toAttribute), order, matches)
    val kept = Filter(LessThanOrEqual(rank.toAttribute, Literal(node.count)), ranked)
    Project(node.output, kept)
  }

  /** The order by which matches are kept, over the columns of a pair. */
  def nearestFirst(node: NearestMatches): Seq[SortOrder] = {
    val value = node.value
    node.center match {
      case None => Seq(SortOrder(value, if (node.fromEnd) Descending else Ascending))
      case Some(center) =>
        val isAbove = GreaterThan(value, center)
        // Different values may have one distance: that of rounded numbers, or of an infinite center.
        val above = If(isAbove, value, Literal(null, value.dataType))
        Seq(
          SortOrder(distance(value, center), Ascending),
          SortOrder(isAbove, Ascending),
          SortOrder(above, Ascending),
          SortOrder(value, Descending))
    }
  }

  /** The absolute difference. That of two LONGs has more than 64 bits. */
  private def distance(value: Expression, center: Expression): Expression =
    value.dataType match {
      case FloatType | DoubleType => Abs(Subtract(value, center), failOnError = false)
      case _ => Abs(Subtract(exact(value), exact(center)), failOnError = false)
    }

  private def exact(value: Expression): Expression =
    Cast(EncodedEndpoint(value), DecimalType(20, 0))
}
