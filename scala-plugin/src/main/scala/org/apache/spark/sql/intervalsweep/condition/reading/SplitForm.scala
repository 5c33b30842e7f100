// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, LeftSide, Side, Sweep}
import org.apache.spark.sql.types.DataType

/**
 * Two opposite inequalities as two sweeps, each of which leads with a bounded axis:
 * {{{
 *   a < b  AND  c < d        a, d of one side (A), b, c of the other (B); any strictness
 *
 *     A  a=========d               sweep 1: A is boxes, its lead axis is a <= c < d
 *     B       c=========b                   and its second one a < b
 *
 *     A       a=========d          sweep 2: B is boxes, its lead axis is c < a < b
 *     B  c=========b                        and its second one c < d
 * }}}
 * For INTERVAL_INTERSECTS, `c` and `a` are the starts: of two intervals that intersect one begins
 * within the other. In general: either `a <= c` or `c < a`, never both, and each sweep adds one
 * of the two to the inequalities as they are. So the sweeps are disjoint, and together exact, for
 * all rows, empty and reversed intervals included; where `a` is NULL or `c` is, neither the
 * inequalities nor a sweep match. All of it is about the encoded endpoints: of prefixes, the sweeps
 * are disjoint, too, and together what the inequalities of the prefixes say.
 *
 * In both sweeps the rows of A are sorted by `a` and those of B by `c`.
 */
private[condition] case class SplitForm(first: Comparison, second: Comparison) {

  def comparisons: Seq[Comparison] = Seq(first, second)

  /** The comparisons that need not be looked at again. */
  def exact: Seq[Comparison] = comparisons.filter(_.inequality.exists(_.exact))

  private val (less, more) = (first.inequality.get, second.inequality.get)

  /** The points by which the two sides are sorted. */
  def leads: Map[Side, Expression] =
    Map(less.lesserSide -> less.lesser, more.lesserSide -> more.lesser)

  def toSweeps(table: EndpointTable): Seq[Sweep] = {
    val (sideA, sideB) = (less.lesserSide, more.lesserSide)
    val a = table.of(sideA, less.lesser)
    val d = table.of(sideA, more.greater)
    val c = table.of(sideB, more.lesser)
    val b = table.of(sideB, less.greater)
    Seq(
      Sweep(
        sideA,
        Axis(c, Some(Bound(a, strict = false)), Some(Bound(d, more.strict))),
        Some(Axis(b, Some(Bound(a, less.strict)), None))),
      Sweep(
        sideB,
        Axis(a, Some(Bound(c, strict = true)), Some(Bound(b, less.strict))),
        Some(Axis(d, Some(Bound(c, more.strict)), None))))
  }
}

private[condition] object SplitForm {

  /** The first pair of opposite inequalities whose endpoints are of one type. */
  def of(comparisons: Seq[Comparison]): Option[SplitForm] = {
    val inequalities = for (c <- comparisons; i <- c.inequality) yield (c, i)
    inequalities.combinations(2).collectFirst {
      case Seq((c, i), (d, j))
          if i.lesserSide != j.lesserSide &&
            DataType.equalsStructurally(i.dataType, j.dataType, ignoreNullability = true) =>
        // The left side is A, whichever is written first.
        if (i.lesserSide == LeftSide) SplitForm(c, d) else SplitForm(d, c)
    }
  }
}
