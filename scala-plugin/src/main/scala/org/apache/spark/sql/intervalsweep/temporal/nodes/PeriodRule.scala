// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

/** What a sweep over the periods of equal keys makes of the rows that are valid at an instant. */
sealed abstract class PeriodRule(val name: String) extends Product with Serializable {

  /** As errors call it: in the words of SQL, where it has them. */
  def shown: String = name.replace('_', ' ').toUpperCase(java.util.Locale.ROOT)
}

object PeriodRule {

  /**
   * How often a row is in the result, by how often it is valid on the left, `a`, and on the right,
   * `b`. The numbers are those of the paper's definitions; the worker computes them, see
   * kernels/period_loops.py.
   */
  sealed abstract class Count(name: String) extends PeriodRule(name)

  /** zeta (16): the same rows in canonical form: a. */
  case object Coalesce extends Count("coalesce")

  /** delta (4): 1 if a > 0. */
  case object Distinct extends Count("distinct")

  /** Difference (5): max(a - b, 0). */
  case object ExceptAll extends Count("except_all")

  /** 1 if a > 0 and b = 0. */
  case object Except extends Count("except")

  /** Strict difference (15), and the anti join, whose right side is the pairs: a if b = 0. */
  case object ExceptStrict extends Count("except_strict")

  /** The semi join (12), but that rows are not multiplied by their partners: a if b > 0. */
  case object Semi extends Count("semi")

  /** Intersection (13): min(a, b). */
  case object IntersectAll extends Count("intersect_all")

  /** 1 if a > 0 and b > 0. */
  case object Intersect extends Count("intersect")

  /** Max-union (14): max(a, b). */
  case object UnionMax extends Count("union_max")

  /** Where nothing is valid on the left: 1 if a = 0. */
  case object Gaps extends Count("gaps")

  /** The periods in which nothing starts or ends, and something is valid, and what measures are then. */
  case object Cuts extends PeriodRule("cuts")

  /** The longest periods in which something is valid, and what measures are of all their rows. */
  case object Islands extends PeriodRule("islands")

  /**
   * gamma, alpha (6, 7): the periods in which the values of aggregate functions stay the same.
   *
   * @param ofEmpty whether there are such, too, in which nothing is valid
   */
  case class Values(ofEmpty: Boolean) extends PeriodRule("values")
}
