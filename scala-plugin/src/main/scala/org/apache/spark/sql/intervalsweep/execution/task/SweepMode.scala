// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.sql.intervalsweep.condition.model.{Description, Side, SweepCondition}

/** How the rows that may match come together in one task. */
sealed trait SweepMode {

  /** A join with this condition in words, part by part. */
  def describe(condition: SweepCondition): Seq[String] =
    Description(condition).parts :+ toString
}

object SweepMode {

  /** One side goes to every task of the other. */
  case class Broadcast(side: Side) extends SweepMode {
    override def toString: String = s"broadcast $side"
  }

  /** Both sides are shuffled by their equality keys and sorted. */
  case object ByKeys extends SweepMode {
    override def toString: String = "by keys"
  }

  /** By keys, but the rows of a key may be in several tasks: see `planner/adaptive/SplitSkewedKeys`. */
  case object BySplitKeys extends SweepMode {
    override def toString: String = "by keys, large partitions split"
  }

  /**
   * Without keys: points go to the range of values that they lie in, boxes to every range that they
   * touch. See [[RangeShuffle]].
   */
  case object ByRanges extends SweepMode {
    override def toString: String = "by ranges"
  }
}
