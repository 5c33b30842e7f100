// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

/** How a sweep computes periods of the result from the valid rows of equal keys. */
sealed abstract class PeriodRule(val name: String) extends Product with Serializable {

  /** The name in errors: in the words of SQL, if SQL has a word. */
  def shown: String = name.replace('_', ' ').toUpperCase(java.util.Locale.ROOT)
}

object PeriodRule {

  /**
   * Rules that count. They say how often a row is in the result if it is valid `a` times on the
   * left and `b` times on the right. Numbers in parentheses are equations of the paper, see
   * docs/temporal/algebra.md. The worker has the same rules, see kernels/period_counts.py.
   */
  sealed abstract class Count(name: String, copies: (Long, Long) => Long)
      extends PeriodRule(name) {

    /** How often a row is in the result if it is valid `a` times left and `b` times right. */
    def copiesOf(a: Long, b: Long): Long = copies(a, b)
  }

  /** zeta (16), the same rows in canonical form. */
  case object Coalesce extends Count("coalesce", (a, _) => a)

  /**
   * The same rows, where a row whose end another row starts at is extended as long as its period is
   * shorter than `length` (Alg. 10). No row is cut.
   */
  case class CoalesceUpTo(length: Long) extends Count("coalesce", (a, _) => a)

  /** delta (4). */
  case object Distinct extends Count("distinct", (a, _) => one(a > 0))

  /** Difference (5). */
  case object ExceptAll extends Count("except_all", (a, b) => math.max(a - b, 0))
  case object Except extends Count("except", (a, b) => one(a > 0 && b == 0))

  /** Strict difference (15), and the anti join, where the pairs are the right side. */
  case object ExceptStrict extends Count("except_strict", (a, b) => if (b == 0) a else 0)

  /** The semi join (12), without multiplying rows by their matches. */
  case object Semi extends Count("semi", (a, b) => if (b > 0) a else 0)

  /** Intersection (13). */
  case object IntersectAll extends Count("intersect_all", math.min)
  case object Intersect extends Count("intersect", (a, b) => one(a > 0 && b > 0))

  /** Max-union (14). */
  case object UnionMax extends Count("union_max", math.max)

  /** The time in which no row is valid on the left. */
  case object Gaps extends Count("gaps", (a, _) => one(a == 0))

  private def one(isValid: Boolean): Long = if (isValid) 1 else 0

  /**
   * The periods in which some row is valid and none starts or ends, with the measures of that time.
   */
  case object Cuts extends PeriodRule("cuts")

  /** The longest periods in which some row is valid, with the measures of all their rows. */
  case object Islands extends PeriodRule("islands")

  /**
   * gamma, alpha (6, 7): the periods in which the values of aggregate functions stay the same.
   *
   * @param ofEmpty whether periods without valid rows are returned too
   */
  case class Values(ofEmpty: Boolean) extends PeriodRule("values")
}
