// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import org.scalatest.funsuite.AnyFunSuite

/** Runs that a worker may send, and runs that are refused. */
class SweepSizeSuite extends AnyFunSuite {
  private val size = SweepSize(boxes = 3, points = 10)

  private def holds(runs: (Int, Int, Int)*): Boolean = {
    val batch = new RunBatch
    runs.foreach { case (box, first, count) => batch.add(box, first, count) }
    size.holds(batch)
  }

  test("runs of boxes and points that there are") {
    assert(holds((0, 0, 1), (0, 0, 10), (2, 9, 1), (1, 3, 4)))
    assert(holds())
  }

  for {
    (what, run) <- Seq(
      "a negative box" -> ((-1, 0, 1)),
      "the least box" -> ((Int.MinValue, 0, 1)),
      "a box too many" -> ((3, 0, 1)),
      "the greatest box" -> ((Int.MaxValue, 0, 1)),
      "a negative point" -> ((0, -1, 2)),
      "the least point" -> ((0, Int.MinValue, Int.MaxValue)),
      "a point too many" -> ((0, 0, 11)),
      "points behind the last" -> ((0, 10, 1)),
      "points whose end overflows" -> ((0, Int.MaxValue, Int.MaxValue)),
      "the greatest run" -> ((0, 1, Int.MaxValue)),
      "no points" -> ((0, 0, 0)),
      "a negative number of points" -> ((0, 5, -1)),
      "the least number of points" -> ((0, 5, Int.MinValue)))
  } test(s"$what, first, last or between others") {
    val good = (1, 1, 1)
    assert(!holds(run) && !holds(run, good) && !holds(good, run) && !holds(good, run, good))
  }

  test("what is left of a larger batch is not looked at") {
    val batch = new RunBatch
    batch.add(0, 0, 1)
    batch.add(99, 0, 1)
    batch.size = 1
    assert(size.holds(batch))
  }
}
