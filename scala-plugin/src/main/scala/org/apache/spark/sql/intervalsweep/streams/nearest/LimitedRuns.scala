// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.nearest

import org.apache.spark.sql.intervalsweep.streams.windows.{WindowLimit, WindowRuns}

/**
 * The parts of runs that a limit keeps:
 * {{{
 *   probe rows of a window       x  x  o  x  o      x: the residual condition is true
 *   the last 2 of them                 [-----)      rows for which it is not true may be between
 * }}}
 */
private[nearest] object LimitedRuns {

  /** @param isMatch the residual condition of a base and a probe row, if there is one */
  def of(
      runs: WindowRuns,
      limit: WindowLimit,
      isMatch: Option[(Int, Int) => Boolean]): WindowRuns = {
    val first = runs.first.clone()
    val count = runs.count.clone()
    first.indices.foreach { i =>
      val kept = isMatch.fold(math.min(limit.count, count(i))) { test =>
        reach(limit, first(i), count(i), test(i, _))
      }
      if (limit.isLast) first(i) += count(i) - kept
      count(i) = kept
    }
    new WindowRuns(first, count)
  }

  /** How many rows from its end (or start) a run must have, to have enough matches. */
  private def reach(limit: WindowLimit, first: Int, count: Int, isMatch: Int => Boolean): Int = {
    var (matches, seen) = (0, 0)
    while (matches < limit.count && seen < count) {
      seen += 1
      if (isMatch(if (limit.isLast) first + count - seen else first + seen - 1)) matches += 1
    }
    seen
  }
}
