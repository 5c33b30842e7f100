// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import org.apache.spark.TaskContext
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, MatchLimit, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.chunks.JoinChunks
import org.apache.spark.sql.intervalsweep.execution.index.KeyRange

/**
 * Finds the matches of small chunks in the task itself, where a round trip to a worker would take
 * longer; [[BoxSearch]] says how.
 *
 * @param firstOnly for each sweep, true if it is enough to know which boxes have a match
 * @param limit the matches of a box that are kept, if they are limited
 * @param range the range of the task, if the join is by ranges; it clips the lead axes
 * @param batchRuns about how many runs make a batch
 * @param smallGroupPairs the most pairs that the groups of a small chunk have, on average
 * @param context tells whether the task was killed
 */
final class LocalSweep(
    sweeps: Array[Sweep],
    firstOnly: Array[Boolean],
    limit: Option[MatchLimit],
    range: Option[(Long, Long)],
    batchRuns: Int,
    smallGroupPairs: Long,
    context: TaskContext)
    extends RunSource {
  override val runs: RunBatch = new RunBatch
  private var left: RowBlock = _
  private var right: RowBlock = _
  private var search: BoxSearch = _
  private var limited: Option[LimitedSearch] = None
  private var boxes = 0
  private var candidates = 0L
  private var sweep = 0
  private var box = 0

  /**
   * True if a chunk is small: in pairs that may be compared, or in steps of binary searches. The
   * few matches that a limit keeps are always found here.
   */
  def takes(chunks: JoinChunks, block: Side => RowBlock): Boolean =
    limit.isDefined ||
      smallGroupPairs > 0 && (hasQuickSearch(block) || hasFewPairs(chunks.build, chunks.probe))

  /**
   * True if the binary searches take few steps. With one axis they find all matches, and no pair is
   * compared.
   */
  private def hasQuickSearch(block: Side => RowBlock): Boolean =
    sweeps.forall(_.second.isEmpty) && {
      val steps = sweeps.map { sweep =>
        block(sweep.boxes).numRows.toLong * searchSteps(block(sweep.points).numRows)
      }
      steps.sum <= smallGroupPairs
    }

  /** The steps of the two searches of a box. */
  private def searchSteps(points: Int): Int =
    2 * (Integer.SIZE - Integer.numberOfLeadingZeros(points))

  private def hasFewPairs(build: RowBlock, probe: RowBlock): Boolean = {
    val offsets = build.groupOffsets
    val rows = probe.numRows
    val limit = smallGroupPairs * math.min(offsets.length - 1, rows).toDouble
    var pairs = 0L
    if (probe.groups == null) pairs = rows.toLong * build.numRows
    else {
      var i = 0
      while (i < rows && pairs <= limit) {
        val group = probe.groups(i)
        // The last groups may have no build-side row here: rows with NULL endpoints are left out.
        if (group + 1 < offsets.length) pairs += offsets(group + 1) - offsets(group)
        i += 1
      }
    }
    pairs <= limit
  }

  /** Starts with a chunk. */
  def start(l: RowBlock, r: RowBlock): Unit = {
    left = l
    right = r
    sweep = -1
    search = null
  }

  override def nextRuns(statistics: SweepStatistics): Boolean = {
    val started = System.nanoTime()
    runs.size = 0
    while (runs.size == 0 && hasSearch) {
      findSome()
      runs.sweep = sweep
      if (box == boxes) {
        statistics.candidates += candidates
        search = null
      }
    }
    statistics.runs += runs.size
    statistics.kernelNanos += System.nanoTime() - started
    runs.size > 0
  }

  private def findSome(): Unit = {
    var nextCheck = candidates + LocalSweep.CandidatesPerCheck
    while (runs.size < batchRuns && box < boxes) {
      candidates += (
        if (limited.isDefined) limited.get.find(box, runs)
        else search.find(box, runs, firstOnly(sweep)))
      box += 1
      if (candidates >= nextCheck) {
        context.killTaskIfInterrupted()
        nextCheck = candidates + LocalSweep.CandidatesPerCheck
      }
    }
  }

  /** Moves to the next sweep if the current one is done. False after the last sweep. */
  private def hasSearch: Boolean = {
    if (search == null && sweep + 1 < sweeps.length) {
      sweep += 1
      box = 0
      candidates = 0
      val side = sweeps(sweep).boxes
      val (own, points) = (block(side), block(side.other))
      boxes = own.numRows
      val keys = KeyRange.ofGroups(own.groups, points.groupOffsets)
      search = new BoxSearch(sweeps(sweep), own, points, keys, range)
      val lead = points.endpoints(sweeps(sweep).lead.point)
      limited = limit.map(new LimitedSearch(_, search, own, lead))
    }
    search != null
  }

  private def block(side: Side): RowBlock = if (side == LeftSide) left else right
}

private object LocalSweep {
  private val CandidatesPerCheck = 1 << 22
}
