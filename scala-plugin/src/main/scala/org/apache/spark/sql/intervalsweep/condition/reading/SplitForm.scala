// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, LeftSide, Side, Sweep}
import org.apache.spark.sql.types.DataType

/**
 * Two opposite inequalities as two sweeps. Each sweep has a bounded lead axis:
 * {{{
 *   a < b  AND  c < d        a, d of one side (A), b, c of the other (B); any strictness
 *
 *     A  a=========d               sweep 1: A is boxes, its lead axis is a <= c < d
 *     B       c=========b                   and its second one a < b
 *
 *     A       a=========d          sweep 2: B is boxes, its lead axis is c < a < b
 *     B  c=========b                        and its second one c < d
 * }}}
 * For INTERVAL_INTERSECTS, `a` and `c` are the starts: if two intervals intersect, one of them
 * starts within the other.
 *
 * Invariant: no pair is found by both sweeps, and together they find exactly the pairs that satisfy
 * the inequalities. Proof: sweep 1 adds `a <= c` to the inequalities, and sweep 2 adds `c < a`. For
 * each pair exactly one of these is true. This includes empty and reversed intervals. If `a` or `c`
 * is NULL, neither the inequalities nor a sweep match. The proof is about encoded endpoints. If
 * these are prefixes, the sweeps are still disjoint, and together they are equivalent to the
 * inequalities of the prefixes.
 *
 * Cost: in both sweeps the rows of A are sorted by `a` and the rows of B by `c`, so each side needs
 * one sort.
 */
private[condition] case class SplitForm(first: Comparison, second: Comparison) extends SweepForm {

  def comparisons: Seq[Comparison] = Seq(first, second)

  override def exact: Seq[Comparison] = comparisons.filter(_.inequality.exists(_.exact))

  private val (less, more) = (first.inequality.get, second.inequality.get)

  /** The sort key of each side. */
  def leads: Map[Side, Expression] =
    Map(less.lesserSide -> less.lesser, more.lesserSide -> more.lesser)

  override def toSweeps(table: EndpointTable): Seq[Sweep] = {
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

  /** The form of the first two opposite inequalities with endpoints of one type. */
  def of(comparisons: Seq[Comparison]): Option[SplitForm] = {
    val inequalities = for (c <- comparisons; i <- c.inequality) yield (c, i)
    inequalities.combinations(2).collectFirst {
      case Seq((c, i), (d, j))
          if i.lesserSide != j.lesserSide &&
            DataType.equalsStructurally(i.dataType, j.dataType, ignoreNullability = true) =>
        // The left side is always A.
        if (i.lesserSide == LeftSide) SplitForm(c, d) else SplitForm(d, c)
    }
  }
}
