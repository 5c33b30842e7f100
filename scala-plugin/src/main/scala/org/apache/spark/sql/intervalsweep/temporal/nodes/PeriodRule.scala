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
   * docs/temporal/algebra.md. The worker evaluates the rules, see kernels/period_counts.py.
   */
  sealed abstract class Count(name: String) extends PeriodRule(name)

  /** zeta (16), the same rows in canonical form: a. */
  case object Coalesce extends Count("coalesce")

  /**
   * The same rows, where a row whose end another row starts at is extended as long as its period is
   * shorter than `length` (Alg. 10). No row is cut.
   */
  case class CoalesceUpTo(length: Long) extends Count("coalesce")

  /** delta (4): 1 if a > 0. */
  case object Distinct extends Count("distinct")

  /** Difference (5): max(a - b, 0). */
  case object ExceptAll extends Count("except_all")

  /** 1 if a > 0 and b = 0. */
  case object Except extends Count("except")

  /** Strict difference (15), and the anti join, where the pairs are the right side: a if b = 0. */
  case object ExceptStrict extends Count("except_strict")

  /** The semi join (12), without multiplying rows by their matches: a if b > 0. */
  case object Semi extends Count("semi")

  /** Intersection (13): min(a, b). */
  case object IntersectAll extends Count("intersect_all")

  /** 1 if a > 0 and b > 0. */
  case object Intersect extends Count("intersect")

  /** Max-union (14): max(a, b). */
  case object UnionMax extends Count("union_max")

  /** The time in which no row is valid on the left: 1 if a = 0. */
  case object Gaps extends Count("gaps")

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
