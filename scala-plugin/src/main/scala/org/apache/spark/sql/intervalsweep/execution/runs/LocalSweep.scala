// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import org.apache.spark.TaskContext
import org.apache.spark.sql.intervalsweep.condition.model.{AxisInterval, LeftSide, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.chunks.JoinChunks

/**
 * Finds the matches of small chunks in the task itself, where a round trip to a worker would take
 * longer. For each box, two binary searches find the points in it on the lead axis, in O(log n) for
 * n points. If there is a second axis, each of these points is compared with it.
 *
 * @param firstOnly for each sweep, true if it is enough to know which boxes have a match
 * @param range the range of the task, if the join is by ranges; it clips the lead axes
 * @param batchRuns about how many runs make a batch
 * @param smallGroupPairs the most pairs that the groups of a small chunk have, on average
 * @param context tells whether the task was killed
 */
final class LocalSweep(
    sweeps: Array[Sweep],
    firstOnly: Array[Boolean],
    range: Option[(Long, Long)],
    batchRuns: Int,
    smallGroupPairs: Long,
    context: TaskContext)
    extends RunSource {
  override val runs: RunBatch = new RunBatch
  private var left: RowBlock = _
  private var right: RowBlock = _
  private var search: BoxSearch = _
  private var sweep = 0
  private var box = 0

  /** True if a chunk is small: in pairs that may be compared, or in steps of binary searches. */
  def takes(chunks: JoinChunks, block: Side => RowBlock): Boolean =
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
      if (box == search.boxes) {
        statistics.candidates += search.candidates
        search = null
      }
    }
    statistics.runs += runs.size
    statistics.kernelNanos += System.nanoTime() - started
    runs.size > 0
  }

  private def findSome(): Unit = {
    var nextCheck = search.candidates + LocalSweep.CandidatesPerCheck
    while (runs.size < batchRuns && box < search.boxes) {
      search.find(box, runs)
      box += 1
      if (search.candidates >= nextCheck) {
        context.killTaskIfInterrupted()
        nextCheck = search.candidates + LocalSweep.CandidatesPerCheck
      }
    }
  }

  /** Moves to the next sweep if the current one is done. False after the last sweep. */
  private def hasSearch: Boolean = {
    if (search == null && sweep + 1 < sweeps.length) {
      sweep += 1
      box = 0
      val boxes = sweeps(sweep).boxes
      search =
        new BoxSearch(sweeps(sweep), block(boxes), block(boxes.other), range, firstOnly(sweep))
    }
    search != null
  }

  private def block(side: Side): RowBlock = if (side == LeftSide) left else right
}

private object LocalSweep {
  private val CandidatesPerCheck = 1 << 22
}

/** Finds the matches of one box after another, in one sweep. */
private final class BoxSearch(
    sweep: Sweep,
    boxRows: RowBlock,
    pointRows: RowBlock,
    range: Option[(Long, Long)],
    firstOnly: Boolean) {
  private val offsets = pointRows.groupOffsets
  private val leadPoints = pointRows.endpoints(sweep.lead.point)
  private val lead = new AxisInterval(sweep.lead)
  private val secondPoints = sweep.second.map(axis => pointRows.endpoints(axis.point)).orNull
  private val second = sweep.second.map(new AxisInterval(_)).orNull
  private val (low, high) = range.getOrElse((Long.MinValue, Long.MaxValue))

  /** The number of pairs that match on the lead axis, over all boxes so far. */
  var candidates = 0L

  def boxes: Int = boxRows.numRows

  /** Adds the runs of points in a box. */
  def find(box: Int, runs: RunBatch): Unit = {
    val group = if (boxRows.groups == null) 0 else boxRows.groups(box)
    lead.read(endpoint => boxRows.endpoints(endpoint)(box))
    lead.clip(low, high)
    if (!lead.isEmpty && group + 1 < offsets.length) {
      val first = firstAtLeast(lead.least, offsets(group), offsets(group + 1))
      val end =
        if (lead.most == Long.MaxValue) offsets(group + 1)
        else firstAtLeast(lead.most + 1, first, offsets(group + 1))
      candidates += end - first
      if (second == null) { if (end > first) runs.add(box, first, end - first) }
      else filter(box, first, end, runs)
    }
  }

  /** The first point of [start, stop) whose lead coordinate is at least `value`, or `stop`. */
  private def firstAtLeast(value: Long, start: Int, stop: Int): Int = {
    var from = start
    var until = stop
    while (from < until) {
      val middle = (from + until) >>> 1
      if (leadPoints(middle) < value) from = middle + 1 else until = middle
    }
    from
  }

  /** Adds the runs that the second axis leaves of the points [first, end). */
  private def filter(box: Int, first: Int, end: Int, runs: RunBatch): Unit = {
    second.read(endpoint => boxRows.endpoints(endpoint)(box))
    var point = first
    var isDone = second.isEmpty
    while (point < end && !isDone) {
      while (point < end && !second.contains(secondPoints(point))) point += 1
      val start = point
      while (point < end && second.contains(secondPoints(point))) point += 1
      if (point > start) {
        runs.add(box, start, point - start)
        isDone = firstOnly
      }
    }
  }
}
