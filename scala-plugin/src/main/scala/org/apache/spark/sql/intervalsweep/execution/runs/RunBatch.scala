// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

/**
 * A batch of runs of the sweep number `sweep`: box `box(i)` matches the points `first(i)` to
 * `first(i) + count(i) - 1`.
 *
 * A batch may be one of sums instead: box `box(i)` then matches `count(i)` points, `first(i)` among
 * them, and `sums(m)(i)` is the sum of measure `m` over these points. `SummedColumns` defines the
 * measures.
 */
final class RunBatch {
  var sweep = 0
  var size = 0
  var box: Array[Int] = Array.emptyIntArray
  var first: Array[Int] = Array.emptyIntArray
  var count: Array[Int] = Array.emptyIntArray

  /** Null in a batch of runs. */
  var sums: Array[Array[Long]] = _

  /** Makes room for `n` runs, and keeps the existing ones. */
  def reserve(n: Int): Unit = if (box.length < n) {
    val capacity = math.max(n, math.min(2L * box.length, Int.MaxValue - 8).toInt)
    box = java.util.Arrays.copyOf(box, capacity)
    first = java.util.Arrays.copyOf(first, capacity)
    count = java.util.Arrays.copyOf(count, capacity)
  }

  /** The number of pairs in all runs. */
  def pairs: Long = {
    var sum = 0L
    var k = 0
    while (k < size) { sum += count(k); k += 1 }
    sum
  }

  def add(b: Int, f: Int, n: Int): Unit = {
    reserve(size + 1)
    box(size) = b
    first(size) = f
    count(size) = n
    size += 1
  }
}

/** The number of boxes and points that a sweep has in a chunk. */
case class SweepSize(boxes: Int, points: Int) {

  /** True if each run, or sum, has a box of the chunk and one or more of its points. */
  def holds(runs: RunBatch): Boolean = {
    val (box, first, count) = (runs.box, runs.first, runs.count)
    // The points of a sum are not necessarily consecutive.
    val areNext = if (runs.sums == null) -1 else 0
    var signs = 0
    var k = 0
    // Combines numbers that must not be negative. One test after the loop is enough, and the JVM
    // can vectorize a loop without branches.
    while (k < runs.size) {
      val rest = points - first(k)
      signs |= box(k) |
        (boxes - 1 - box(k)) | first(k) | count(k) |
        (count(k) - 1) |
        (rest - 1) |
        (points - count(k)) |
        ((rest - count(k)) & areNext)
      k += 1
    }
    signs >= 0
  }

  override def toString: String = s"$boxes boxes and $points points"
}

/** Finds the matches of a chunk: the worker, or the task itself. */
trait RunSource {

  /** The last batch of runs. */
  def runs: RunBatch

  /** Finds the next batch of runs; false after the last one of the chunk. */
  def nextRuns(statistics: SweepStatistics): Boolean
}

/** The counters of a sweep. */
final class SweepStatistics {
  var candidates = 0L
  var skippedBlocks = 0L
  var runs = 0L
  var kernelNanos = 0L
}
