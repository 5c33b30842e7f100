// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.adaptive

import org.apache.spark.MapOutputStatistics
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec, ShufflePartitionSpec, SortExec, SparkPlan
}
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec, ShufflePartitionsUtil, ShuffleQueryStageExec
}
import org.apache.spark.sql.execution.exchange.ValidateRequirements
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.task.SweepMode
import org.apache.spark.sql.intervalsweep.execution.{IntervalSweepJoinExec, SweepInputExec}
import org.apache.spark.util.Utils

/**
 * A rule for adaptive execution: splits a partition that a hot key made large. Its rows of one side
 * go to several tasks, grouped by the tasks that wrote them, and each task reads the other side's
 * rows of that partition. If both sides are large, there is a task for each pair of splits.
 *
 * {{{
 *   left   [L1] [L2  .  .  ] [L3]        tasks  (L1, R1) (L2a, R2) (L2b, R2) (L2c, R2) (L3, R3)
 *   right  [R1] [R2] [R3]
 * }}}
 *
 * The method, the settings (`spark.sql.adaptive.skewJoin.*`) and the threshold for a large
 * partition are those of Spark's rule, which knows only Spark's own joins.
 */
object SplitSkewedKeys extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!conf.getConf(SQLConf.SKEW_JOIN_ENABLED)) plan
    else {
      val split = plan.transformUp {
        case join: IntervalSweepJoinExec if join.mode == SweepMode.ByKeys => splitJoin(join)
      }
      // Nodes above may require that all rows of a key are in one partition.
      if (split.fastEquals(plan) || !ValidateRequirements.validate(split)) plan else split
    }

  private def splitJoin(join: IntervalSweepJoinExec): SparkPlan = {
    val parts = for {
      left <- ShuffledSide(join, LeftSide)
      right <- ShuffledSide(join, RightSide)
      if left.sizes.length == right.sizes.length
      pairs =
        left.sizes.indices.flatMap(k => for (l <- left.specs(k); r <- right.specs(k)) yield (l, r))
      if pairs.length > left.sizes.length
    } yield (left.read(pairs.map(_._1)), right.read(pairs.map(_._2)))
    parts.fold[SparkPlan](join) { case (left, right) =>
      join.copy(left = left, right = right, mode = SweepMode.BySplitKeys)
    }
  }

  /** One side of a join that is read directly from a shuffle. */
  private case class ShuffledSide(
      plan: SparkPlan,
      stage: ShuffleQueryStageExec,
      statistics: MapOutputStatistics,
      maySplit: Boolean) {
    val sizes: Array[Long] = statistics.bytesByPartitionId

    private val threshold: Long = math.max(
      conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_THRESHOLD),
      (Utils.median(sizes, alreadySorted = false) *
        conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_FACTOR)).toLong)

    /**
     * The average size of the partitions that are not large, but at least Spark's advisory size.
     */
    private val target: Long = {
      val others = sizes.filter(_ <= threshold)
      val average = if (others.isEmpty) 0L else others.sum / others.length
      math.max(conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES), average)
    }

    /** The reads that cover a partition: several if it is split. */
    def specs(k: Int): Seq[ShufflePartitionSpec] = {
      val parts =
        if (maySplit && sizes(k) > threshold)
          ShufflePartitionsUtil.createSkewPartitionSpecs(statistics.shuffleId, k, target)
        else None
      parts.getOrElse(Seq(CoalescedPartitionSpec(k, k + 1, sizes(k))))
    }

    def read(specs: Seq[ShufflePartitionSpec]): SparkPlan = plan.transformUp {
      case s: ShuffleQueryStageExec if s eq stage => AQEShuffleReadExec(s, specs)
    }
  }

  private object ShuffledSide {
    def apply(join: IntervalSweepJoinExec, side: Side): Option[ShuffledSide] = for {
      stage <- shuffled(join.input(side))
      statistics <- stage.mapStats.filter(_.bytesByPartitionId.nonEmpty)
    } yield {
      // A split sends the other side's rows to several tasks, and no task knows all matches of
      // these rows. A limit keeps some of all matches of a left row.
      val maySplit = !join.joinOutput.isTracked(side.other) &&
        (join.limit.isEmpty || side == LeftSide)
      ShuffledSide(join.input(side), stage, statistics, maySplit)
    }

    private def shuffled(plan: SparkPlan): Option[ShuffleQueryStageExec] = plan match {
      case stage: ShuffleQueryStageExec => Option.when(stage.isMaterialized)(stage)
      case sort: SortExec => shuffled(sort.child)
      case input: SweepInputExec => shuffled(input.child)
      case _ => None
    }
  }
}
