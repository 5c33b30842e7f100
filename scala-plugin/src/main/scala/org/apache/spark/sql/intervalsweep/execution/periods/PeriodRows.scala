// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

/**
 * The rows of a task in windows of whole groups:
 * {{{
 *   hash     3 3 3 3 3 | 7 7 | 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 ...
 *   group    0 1 0 0 1   2 2   0 0 0 0 0 0
 * }}}
 * Keys that differ and have the same hash are several groups. A window ends with a run of hashes, if
 * it can; the groups of one that it has no room for are [[LargePeriodGroup]]s.
 */
private[periods] final class PeriodRows(
    settings: PeriodSettings,
    rows: HashedRows,
    override val window: PeriodWindow)
    extends PeriodInput {

  override def from: Int = 0

  /** Rows behind them, of the next run of hashes, wait. */
  var size = 0
  var goesOn = false

  private var runHash = 0L
  private var runGroup = 0
  private var runStart = 0
  private var large: Seq[LargePeriodGroup] = Nil

  override def advance(): Boolean = {
    window.keepFrom(size)
    runStart -= size
    size = 0
    if (large.isEmpty && !fill()) large = LargePeriodGroup.of(settings, window, rows)
    large.headOption.foreach { group =>
      goesOn = group.fill(window)
      size = window.size
      if (!goesOn) large = large.tail
    }
    size > 0
  }

  /** False if a run of hashes is larger than a window. */
  private def fill(): Boolean = {
    goesOn = false
    runGroup = 0
    var isFull = false
    while (!isFull && rows.hasNext) {
      val isNewRun = window.size == 0 || rows.hash != runHash
      if (isNewRun && window.size >= settings.windowRows) isFull = true
      else if (!window.hasRoom()) {
        if (!isNewRun && runStart == 0) return false
        isFull = true
        size = if (isNewRun) window.size else runStart
      } else {
        if (isNewRun) startRun()
        val of = group()
        rows.take()
        window.add(of, rows.number)
      }
    }
    if (size == 0) size = window.size
    window.sort(size)
    true
  }

  private def startRun(): Unit = {
    runHash = rows.hash
    runGroup = window.keys.size
    runStart = window.size
  }

  private def group(): Int = {
    val keys = rows.keys
    var group = runGroup
    while (group < window.keys.size && window.keys(group) != keys) group += 1
    if (group == window.keys.size) window.keys += keys.copy()
    group
  }
}
