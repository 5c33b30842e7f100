// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.intervalsweep.condition.model.WhyNot
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * Logs why a join is left to Spark, once: at INFO if its condition holds one of the functions, as
 * whoever wrote it may wait for a nested loop without knowing.
 */
private[planner] object FallbackLog extends Logging {

  /**
   * Spark asks for the same join again, with and without the projection above it, and whenever
   * adaptive execution plans anew. A tag goes along when the plan around a node changes.
   */
  private val Logged = TreeNodeTag[Unit]("intervalsweep.fallbackLogged")
  private val PairsBecause = TreeNodeTag[String]("intervalsweep.pairsBecause")

  def write(join: Join, reason: WhyNot): Unit =
    once(join, "leaves a join to Spark", reason.message)

  /** Says why all pairs of a swept join are made for the aggregate above it. */
  def writePairs(join: Join, reason: String): Unit = {
    join.setTagValue(PairsBecause, reason)
    once(join, "makes the pairs of a join for the aggregate above it", reason)
  }

  /** What [[writePairs]] has written of a join. */
  def pairsBecause(join: Join): Option[String] = join.getTagValue(PairsBecause)

  private def once(join: Join, what: String, reason: => String): Unit =
    if (join.getTagValue(Logged).isEmpty) {
      join.setTagValue(Logged, ())
      def message =
        s"IntervalSweep $what" + join.condition.fold("")(c => s", ON ${c.sql}") + s": $reason"
      if (holdsFunction(join)) logInfo(message) else logDebug(message)
    }

  private def holdsFunction(join: Join): Boolean =
    join.condition.exists(_.exists(_.isInstanceOf[IntervalPredicate]))
}
