// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.nearest

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockColumn, BlockRow}
import org.apache.spark.sql.intervalsweep.streams.windows.WindowRuns

/**
 * Base rows, each with the probe rows of its run. Each row is valid until the next one is read.
 *
 * @param bases   the returned columns of the base rows; `probes` likewise
 * @param isMatch the residual condition of a base and a probe row, if there is one
 * @param isOuter whether a base row without a probe row is returned, with NULLs
 */
private[nearest] final class MatchedRows(
    bases: Array[BlockColumn],
    probes: Array[BlockColumn],
    runs: WindowRuns,
    isMatch: Option[(Int, Int) => Boolean],
    isOuter: Boolean)
    extends Iterator[InternalRow] {
  private val (base, probe) = (BlockRow(bases), BlockRow(probes))
  private val none = new GenericInternalRow(probes.length)
  private val pair = new JoinedRow

  /** The base row and the next probe row of its run. */
  private var (i, k) = (-1, 0)
  private var (isPaired, isReady, isEnded) = (true, false, false)

  override def hasNext: Boolean = {
    while (!isReady && !isEnded) advance()
    isReady
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    isReady = false
    pair
  }

  private def advance(): Unit =
    if (i >= 0 && k < runs.count(i)) {
      probe.position = runs.first(i) + k
      k += 1
      if (isMatch.forall(_(i, probe.position))) show(probe)
    } else if (!isPaired && isOuter) show(none)
    else {
      i += 1
      isEnded = i == runs.first.length
      isPaired = isEnded
      k = 0
      base.position = i
    }

  private def show(other: InternalRow): Unit = {
    pair(base, other)
    isPaired = true
    isReady = true
  }
}
