// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.types.DataType

/**
 * Keeps at most `count` of the matches of each box: the last ones, the first ones or the nearest
 * ones along the lead axis. It needs a condition with one sweep and one axis, whose boxes are rows
 * of the left side. The matches of a box are then one run of the sorted points, and the kept ones
 * are a part of it.
 *
 * {{{
 *   points by lead coordinate   1  3  3  4  7  9
 *   box [2, 8]                     [--------]
 *   last 2                               [--]     4, 7
 *   first 1                        [-]            one of the two rows at 3
 *   nearest 2 of 6                       [--]     7, 4: distances 1 and 2
 * }}}
 *
 * If points have equal coordinates, `First` prefers those that come first in the order of the points,
 * and the others prefer those that come last.
 *
 * @param kept  which matches are kept
 * @param count how many are kept; at least 1
 */
case class MatchLimit(kept: KeptMatches, count: Int) {
  require(count > 0, "a limit keeps at least one match")

  /** The text in EXPLAIN. */
  override def toString: String = s"$kept $count"
}

/** Which of the matches of a box are kept. */
sealed trait KeptMatches

object KeptMatches {
  case object Last extends KeptMatches {
    override def toString: String = "last"
  }

  case object First extends KeptMatches {
    override def toString: String = "first"
  }

  /**
   * Keeps the matches whose lead coordinates have the least distance from an endpoint of the box.
   * If two have the same distance, the one with the lesser coordinate is preferred.
   *
   * @param center   index into the endpoints of the left side
   * @param dataType the type of the coordinates, before they were encoded
   */
  case class Nearest(center: Int, dataType: DataType) extends KeptMatches {
    override def toString: String = "nearest"
  }
}
