// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal

/**
 * How often a row is in the result at an instant, by how often it is valid then on the left, `a`,
 * and on the right, `b`. The numbers are those of the paper's definitions.
 */
sealed abstract class PeriodRule(val name: String) extends Product with Serializable {
  def apply(a: Long, b: Long): Long

  /** Whether a row ends at each instant at which something starts or ends. */
  def isCut: Boolean = false
}

object PeriodRule {

  private def once(holds: Boolean): Long = if (holds) 1 else 0

  /** zeta (16): the same rows in canonical form. */
  case object Coalesce extends PeriodRule("coalesce") {
    override def apply(a: Long, b: Long): Long = a
  }

  /** delta (4). */
  case object Distinct extends PeriodRule("distinct") {
    override def apply(a: Long, b: Long): Long = once(a > 0)
  }

  /** Difference (5). */
  case object ExceptAll extends PeriodRule("except_all") {
    override def apply(a: Long, b: Long): Long = (a - b).max(0)
  }

  case object Except extends PeriodRule("except") {
    override def apply(a: Long, b: Long): Long = once(a > 0 && b == 0)
  }

  /** Strict difference (15), and the anti join, whose right side is the pairs. */
  case object ExceptStrict extends PeriodRule("except_strict") {
    override def apply(a: Long, b: Long): Long = if (b == 0) a else 0
  }

  /** The semi join (12), but that rows are not multiplied by their partners. */
  case object Semi extends PeriodRule("semi") {
    override def apply(a: Long, b: Long): Long = if (b > 0) a else 0
  }

  /** Intersection (13). */
  case object IntersectAll extends PeriodRule("intersect_all") {
    override def apply(a: Long, b: Long): Long = a.min(b)
  }

  case object Intersect extends PeriodRule("intersect") {
    override def apply(a: Long, b: Long): Long = once(a > 0 && b > 0)
  }

  /** Max-union (14). */
  case object UnionMax extends PeriodRule("union_max") {
    override def apply(a: Long, b: Long): Long = a.max(b)
  }

  /** Where nothing is valid. */
  case object Gaps extends PeriodRule("gaps") {
    override def apply(a: Long, b: Long): Long = once(a == 0)
  }

  /** The periods in which nothing starts or ends, and something is valid. */
  case object Cuts extends PeriodRule("cuts") {
    override def apply(a: Long, b: Long): Long = once(a > 0)
    override def isCut: Boolean = true
  }
}
