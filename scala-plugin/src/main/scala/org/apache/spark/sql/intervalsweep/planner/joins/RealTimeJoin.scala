// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.{Cross, Inner}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * A join of a stream with a table in real-time mode, as Spark's broadcast hash join. A sweep needs
 * all rows of a batch, and Spark runs only the nodes of a fixed list in this mode. The hash join
 * compares a row of the stream with the table's rows of the same key, or with all of the table's
 * rows if the condition has no key.
 */
private[planner] object RealTimeJoin extends JoinSelectionHelper with SQLConfHelper {

  def apply(join: Join, planned: LogicalPlan => SparkPlan): SparkPlan = {
    val side = table(join)
    // Without keys, all rows get the same constant key.
    val same = Seq(Literal(0))
    val (leftKeys, rightKeys, rest) = join match {
      case ExtractEquiJoinKeys(_, left, right, rest, _, _, _, _) => (left, right, rest)
      case _ => (same, same, join.condition)
    }
    BroadcastHashJoinExec(
      leftKeys,
      rightKeys,
      join.joinType match { case Cross => Inner; case other => other },
      side,
      rest,
      planned(join.left),
      planned(join.right))
  }

  private def table(join: Join): BuildSide = {
    def isTable(side: BuildSide) = !(if (side == BuildLeft) join.left else join.right).isStreaming
    Seq(true, false).flatMap(getBroadcastBuildSide(join, _, conf)).find(isTable)
      .getOrElse(StreamErrors.tableInRealTime())
  }
}
