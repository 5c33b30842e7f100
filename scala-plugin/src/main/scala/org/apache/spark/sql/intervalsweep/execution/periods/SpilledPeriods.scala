// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

/**
 * The rows of a task in chunks of whole groups:
 * {{{
 *   hash     3 3 3 3 3 | 7 7 | 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 ...
 *   group    0 1 0 0 1   2 2   0 0 0 0 0 0
 * }}}
 * Different keys with the same hash are several groups. A chunk ends with the last row of a hash,
 * if possible. If the rows of one hash do not fit into a chunk, their groups become
 * [[SpilledPeriodGroup]]s.
 */
private[periods] final class SpilledPeriods(
    settings: PeriodSettings,
    rows: HashedRows,
    override val chunk: PeriodChunk)
    extends PeriodInput {

  override def from: Int = 0
  override def singles: Range = 0 until 0

  /** The number of rows of the portion. Rows of the next hash may wait behind them. */
  var size = 0
  var goesOn = false

  private var runHash = 0L
  private var runGroup = 0
  private var runStart = 0
  private var large: Seq[SpilledPeriodGroup] = Nil

  override def advance(): Boolean = {
    chunk.keepFrom(size)
    runStart -= size
    size = 0
    if (large.isEmpty && !fill()) large = SpilledPeriodGroup.of(settings, chunk, rows)
    large.headOption.foreach { group =>
      goesOn = group.fill(chunk)
      size = chunk.size
      if (!goesOn) large = large.tail
    }
    size > 0
  }

  /** Fills the chunk. Returns false if the rows of one hash do not fit into it. */
  private def fill(): Boolean = {
    goesOn = false
    runGroup = 0
    var isFull = false
    while (!isFull && rows.hasNext) {
      val isNewRun = chunk.size == 0 || rows.hash != runHash
      if (isNewRun && chunk.size >= settings.chunkRows) isFull = true
      else if (!chunk.hasRoom()) {
        if (!isNewRun && runStart == 0) return false
        isFull = true
        size = if (isNewRun) chunk.size else runStart
      } else {
        if (isNewRun) startRun()
        val of = group()
        rows.take()
        chunk.add(of, rows.number)
      }
    }
    if (size == 0) size = chunk.size
    chunk.sort(size)
    true
  }

  private def startRun(): Unit = {
    runHash = rows.hash
    runGroup = chunk.keys.size
    runStart = chunk.size
  }

  private def group(): Int = {
    val keys = rows.keys
    var group = runGroup
    while (group < chunk.keys.size && chunk.keys(group) != keys) group += 1
    if (group == chunk.keys.size) chunk.keys.add(keys)
    group
  }
}
