// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches

/**
 * An optimizer rule for queries that number the pairs of each left row and keep the first n: the
 * join makes only the pairs that may be kept.
 *
 * {{{
 *   Filter n = 1                                      Filter n = 1
 *     Window row_number() OVER (                        Window ...
 *         PARTITION BY l.id ORDER BY r.at DESC) AS n      NearestMatches l, r
 *       Join l, r: r.at <= l.at                   ->        r.at <= l.at, last 1 by r.at
 * }}}
 * All pairs of a left row are in one partition of the window. So a pair with a number up to n is
 * among the first n of its left row. The window stays, as several left rows may be in a partition.
 */
object LimitRankedPairs extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.Enabled)) plan
    else plan.transformWithPruning(_.containsPattern(WINDOW)) {
      case filter @ Filter(condition, window: Window) =>
        val pairs = for {
          number <- numberOf(window)
          count <- countOf(condition, number)
          pairs <- limited(window, count)
        } yield filter.copy(child = window.copy(child = pairs))
        pairs.getOrElse(filter)
    }

  /** The column of a window that only numbers its rows. */
  private def numberOf(window: Window): Option[Attribute] = window.windowExpressions match {
    case Seq(number @ Alias(WindowExpression(_: RowNumber, _), _)) => Some(number.toAttribute)
    case _ => None
  }

  /** The greatest number that a condition admits. */
  private def countOf(condition: Expression, number: Attribute): Option[Int] =
    splitConjunctivePredicates(condition).collect {
      case EqualTo(a: Attribute, IntegerLiteral(n)) if a.semanticEquals(number) => n
      case EqualTo(IntegerLiteral(n), a: Attribute) if a.semanticEquals(number) => n
      case LessThanOrEqual(a: Attribute, IntegerLiteral(n)) if a.semanticEquals(number) => n
      case GreaterThanOrEqual(IntegerLiteral(n), a: Attribute) if a.semanticEquals(number) => n
      case LessThan(a: Attribute, IntegerLiteral(n)) if a.semanticEquals(number) => n - 1
      case GreaterThan(IntegerLiteral(n), a: Attribute) if a.semanticEquals(number) => n - 1
    }.filter(_ > 0).minOption

  private def limited(window: Window, count: Int): Option[LogicalPlan] = window.child match {
    case project @ Project(columns, join: Join) if columns.forall(_.deterministic) =>
      val values = AttributeMap(columns.collect { case a: Alias => a.toAttribute -> a.child })
      limited(join, window, count, _.transform { case a: Attribute => values.getOrElse(a, a) })
        .map(pairs => project.copy(child = pairs))
    case join: Join => limited(join, window, count, identity)
    case _ => None
  }

  /** @param read rewrites an expression of the window as one over the columns of the join */
  private def limited(
      join: Join,
      window: Window,
      count: Int,
      read: Expression => Expression): Option[LogicalPlan] = {
    val partition = window.partitionSpec.map(read)
    val order = window.orderSpec.map(o => o.copy(child = read(o.child)))
    // The pairs of an inner join may be numbered for each row of either side.
    val sides = (join.joinType, join.condition) match {
      case (Inner, Some(_)) => Seq(join, join.copy(left = join.right, right = join.left))
      case (LeftOuter, Some(_)) => Seq(join)
      case _ => Nil
    }
    sides.find(side => partition.forall(_.references.subsetOf(side.left.outputSet)))
      .flatMap(matches(_, order, count)).filter(NearestMatchesStrategy.isNeverRanked)
      .map(Project(join.output, _))
  }

  /** The first pairs of each left row; an order by the left row alone does not decide about them. */
  private def matches(join: Join, order: Seq[SortOrder], count: Int): Option[NearestMatches] = {
    def isOf(side: LogicalPlan)(o: SortOrder) = o.references.subsetOf(side.outputSet)
    for {
      (first, ties) <- order.dropWhile(isOf(join.left)) match {
        case found +: more => Some((found, more.filterNot(isOf(join.left))))
        case _ => None
      }
      if ties.forall(isOf(join.right)) && first.deterministic
      isDescending = first.direction == Descending
      ranking <-
        if (isOf(join.right)(first)) Some(Ranking.ofValue(first.child, isDescending))
        else Ranking.of(join, first.child, isDistance = !isDescending)
          .filter(decides(_, first.child, ties))
      if ranking.left.forall(isKnown(_, join.condition.get))
    } yield NearestMatches(
      join.left,
      join.right,
      join.joinType,
      join.condition.get,
      ranking.value,
      ranking.center,
      ranking.fromEnd,
      ties,
      count)
  }

  /**
   * Whether the first pairs by a difference are those of the order with its further columns. These
   * count where differences are equal: if they are rounded, or of whole units, or if one value is
   * below the center and one above it.
   */
  private def decides(ranking: Ranking, difference: Expression, ties: Seq[SortOrder]): Boolean =
    ties.isEmpty || {
      val isExact = EndpointEncoding.isWhole(ranking.value.dataType) &&
        !difference.exists(_.isInstanceOf[TimestampDiff])
      val prefersLesser = ties.head.child.semanticEquals(ranking.value) &&
        ties.head.direction == Ascending
      isExact && (!ranking.isNearest || prefersLesser)
    }

  /** Whether a left row in which an expression is NULL has no match. */
  private def isKnown(e: Expression, condition: Expression): Boolean = {
    def decides(c: Expression): Boolean =
      c.semanticEquals(e) || c.nullIntolerant && c.children.exists(decides)
    !e.nullable || splitConjunctivePredicates(condition).exists(decides)
  }
}
