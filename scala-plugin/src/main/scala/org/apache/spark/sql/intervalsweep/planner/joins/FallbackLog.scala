// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.intervalsweep.condition.model.WhyNot
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate

/**
 * Logs once per join why it is left to Spark. The level is INFO if the condition calls an interval
 * function, because the query may silently run as a nested-loop join; otherwise it is DEBUG.
 */
private[planner] object FallbackLog extends Logging {

  /**
   * Marks joins that have been logged. Spark plans the same join several times: with and without
   * the projection above it, and again in adaptive execution. A tag stays with its node when the
   * plan around the node changes.
   */
  private val Logged = TreeNodeTag[Unit]("intervalsweep.fallbackLogged")
  private val PairsBecause = TreeNodeTag[String]("intervalsweep.pairsBecause")

  def write(join: Join, reason: WhyNot): Unit =
    once(join, "leaves a join to Spark", reason.message)

  /** Logs why a swept join returns its pairs to the aggregate above it, instead of runs. */
  def writePairs(join: Join, reason: String): Unit = {
    join.setTagValue(PairsBecause, reason)
    once(join, "makes the pairs of a join for the aggregate above it", reason)
  }

  /** The reason that [[writePairs]] has logged for a join. */
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
