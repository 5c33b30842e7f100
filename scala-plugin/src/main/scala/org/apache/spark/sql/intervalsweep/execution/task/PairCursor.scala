// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock

/**
 * A position in the pairs that a task emits. Pairs come as runs: the row of one side stays, and the
 * row of the other side moves on by one. Unpaired rows come as runs in which the position of the
 * other side is -1. Generated code and the interpreted iterator both loop like this:
 *
 * {{{
 *   while (task.hasRun()) {
 *     if (task.takeChunkChange()) ...              // fetch the columns again
 *     l = task.leftRow; r = task.rightRow
 *     for (n = task.takePairs(); n > 0; n -= 1) {  // a long run comes in parts
 *       ... emit (l, r) ...                        // or suspend(l, r, n) and go on later
 *       l += task.leftStep; r += task.rightStep
 *     }
 *   }
 * }}}
 *
 * The fields are public because generated code reads them.
 *
 * @param context tells whether the task was killed. The cursor must ask by itself: it calls no
 *   iterator of Spark's while it expands runs, and if the caller rejects all pairs, it emits
 *   nothing.
 */
abstract class PairCursor(context: TaskContext) {

  /** The blocks with the rows of the run. */
  var left: RowBlock = _
  var right: RowBlock = _
  private var isNewChunk = false

  var leftRow = 0
  var rightRow = 0
  var leftStep = 0
  var rightStep = 0

  /** True if the run has pairs, false if it has unpaired rows of one side. */
  var isPair = true

  /** The number of the condition's sweep that found the pair. */
  var sweepNumber = 0

  /** True if the pair stands for all pairs of its run, whose values are computed. */
  var isRun = false

  /** True if the run is everything that is emitted of its row; see [[SweepNode.partialRowId]]. */
  var isWhole = false

  /** True if the unpaired rows of the run have a match. */
  var hasMatch = false

  /** The pairs of the run that nobody has taken. */
  protected var pairs = 0
  private var pairsToCheck = PairCursor.PairsPerCheck

  /** Takes a step towards the next run; false after the last one. */
  protected def step(): Boolean

  /** Moves to the next run, if the current one has no pairs left; false after the last one. */
  final def hasRun(): Boolean = {
    while (pairs == 0 && step()) {}
    pairs > 0
  }

  /**
   * The number of pairs, from `leftRow` and `rightRow` on, that the caller then owns: those of the
   * run, or the next ones of a long run. Call it after reading the rows: it moves them on.
   */
  final def takePairs(): Int = {
    val n = math.min(pairs, PairCursor.PairsPerCheck)
    pairs -= n
    leftRow += n * leftStep
    rightRow += n * rightStep
    pairsToCheck -= n
    if (pairsToCheck <= 0) check()
    n
  }

  protected final def check(): Unit = {
    context.killTaskIfInterrupted()
    pairsToCheck = PairCursor.PairsPerCheck
  }

  /** Skips the rest of the run. */
  final def endRun(): Unit = pairs = 0

  /** Gives back the `n` pairs from (l, r) on, which are taken when the caller is called again. */
  final def suspend(l: Int, r: Int, n: Int): Unit = {
    leftRow = l
    rightRow = r
    pairs += n
  }

  /** True if the blocks have changed since the last call. */
  final def takeChunkChange(): Boolean = {
    val changed = isNewChunk
    isNewChunk = false
    changed
  }

  /** Moves to other blocks. */
  protected final def show(l: RowBlock, r: RowBlock, hasNewRows: Boolean = false): Unit = {
    isNewChunk ||= hasNewRows || (l ne left) || (r ne right)
    left = l
    right = r
  }
}

private object PairCursor {

  /**
   * The most pairs between two checks whether the task was killed. They take seconds only if a pair
   * takes a quarter of a millisecond.
   */
  val PairsPerCheck: Int = 1 << 13
}
