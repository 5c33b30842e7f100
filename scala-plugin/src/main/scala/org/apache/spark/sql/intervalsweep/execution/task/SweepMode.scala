// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{Description, Side, SweepCondition}

/** How the rows that may match meet in one task. */
sealed trait SweepMode {

  /** A description of a join with this condition, part by part. */
  def describe(condition: SweepCondition): Seq[String] =
    Description(condition).parts :+ toString
}

object SweepMode {

  /** One side is sent to every task of the other side. */
  case class Broadcast(side: Side) extends SweepMode {
    override def toString: String = s"broadcast $side"
  }

  /** Both sides are shuffled by their equality keys and sorted by them. */
  case object ByKeys extends SweepMode {
    override def toString: String = "by keys"
  }

  /**
   * Like [[ByKeys]], but the rows of a key may be in several tasks: see
   * `planner/adaptive/SplitSkewedKeys`.
   */
  case object BySplitKeys extends SweepMode {
    override def toString: String = "by keys, large partitions split"
  }

  /**
   * For joins without keys. A point goes to the range of values that it lies in, a box to every
   * range that it overlaps. See [[RangeShuffle]].
   */
  case object ByRanges extends SweepMode {
    override def toString: String = "by ranges"
  }
}
