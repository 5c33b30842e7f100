// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.intervalsweep.condition.model.{JoinOutput, LeftSide, Side}

/**
 * Decides to which state partitions the rows of a join of streams go.
 *
 * Routing: the partitions to which the rows of a side go (`spread`), and those that store them
 * (`spreadSides`). A side is tracked if the join must know which of its rows have a match: the
 * outer side or sides of an outer join, the left side of a semi or anti join, none in an inner
 * join.
 * {{{
 *   join                             rows of a side go to             stored in
 *   equi-join keys, and not in a     one partition, by a hash of      that partition
 *   window of row numbers            the key (ByHash)
 *
 *   no keys, or in a window of row numbers:
 *     counted (isCounted)            all partitions (Everywhere)      left: one partition, by a
 *                                                                     hash of the endpoints
 *                                                                     right: all partitions
 *     no side tracked (inner)        all partitions (Everywhere)      one partition, by a hash of
 *                                                                     the endpoints
 *     one side tracked, by event     tracked: one partition, by a     that partition
 *     time                           hash of the endpoints (ByHash)
 *                                    other: all (Everywhere)          all partitions
 *     one side tracked, in a         partition 0 (Together)           partition 0
 *     window of row numbers
 *     both sides tracked             partition 0 (Together)           partition 0
 * }}}
 * Reasons: one partition must know whether a tracked row has a match, or how many. In a window of
 * row numbers each partition must know the largest number of both sides, so no side is hashed
 * there. Each pair is found in one partition only: the one that alone has one of the rows; in an
 * inner join, the one that stores the earlier row, or the left row if both rows are new.
 *
 * @param isKeyed    whether the join has equi-join keys
 * @param isOfRows   whether it is in a window of row numbers, and no relation bounds it
 * @param isByNumber whether its clock is a row number, and not the event time
 * @param isCounted  whether it returns each left row with the number of its matches
 */
private[streams] final case class StreamJoinRouting(
    output: JoinOutput,
    isKeyed: Boolean,
    isOfRows: Boolean,
    isByNumber: Boolean,
    isCounted: Boolean) {
  import StreamJoinRouting._

  /** In a window of rows each partition must see all rows, so the key does not decide. */
  val isByKey: Boolean = isKeyed && !isOfRows

  /** The partitions to which the rows of a side go. */
  def spread(side: Side): Spread =
    if (isByKey) ByHash
    else if (isCounted) Everywhere
    else output.tracked match {
      case Nil => Everywhere
      case Seq(tracked) if !isByNumber => if (side == tracked) ByHash else Everywhere
      case _ => Together
    }

  /** The sides whose rows go to all partitions, where one partition stores each row. */
  val spreadSides: Set[Side] =
    if (isByKey) Set.empty
    else if (isCounted) Set(LeftSide)
    else if (output.tracked.isEmpty) Side.all.toSet
    else Set.empty
}

private[streams] object StreamJoinRouting {
  sealed trait Spread

  /** To all partitions. */
  case object Everywhere extends Spread

  /** To one partition, by a hash of the key, or of the endpoints without keys. */
  case object ByHash extends Spread

  /** All rows to partition 0. */
  case object Together extends Spread
}
