// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.condition.model.LeftSide

class RunCompactionSuite extends AnyFunSuite {
  private def run(id: Long, rows: Long, bytes: Long = 100): StoredRun =
    StoredRun(LeftSide, id, 32 * id, rows, bytes, first = 0, last = 0)

  test("the lowest level with four runs is merged") {
    val large = (1 to 4).map(run(_, rows = 100))
    val small = (5 to 8).map(run(_, rows = 5))
    assert(RunCompaction.of(large) == large)
    assert(RunCompaction.of(large ++ small) == small)
    assert(RunCompaction.of(large.take(3) ++ small.take(3)).isEmpty)
  }

  test("runs of a quarter of the largest size are not merged") {
    val runs = (1 to 8).map(run(_, rows = 100, bytes = RunCompaction.LargestBytes / 4))
    assert(RunCompaction.of(runs).isEmpty)
  }

  test("a row is rewritten about log4(n) times") {
    var runs = Seq.empty[StoredRun]
    var written = 0L
    for (id <- 1 to 4096) {
      runs :+= run(id, rows = 1)
      val merged = RunCompaction.of(runs)
      if (merged.nonEmpty) {
        val rows = merged.map(_.rows).sum
        written += rows
        runs = runs.filterNot(merged.contains) :+ run(10000 + id, rows)
      }
    }
    assert(runs.map(_.rows).sum == 4096)
    assert(runs.size < 30)
    assert(written <= 4096 * 7)
  }
}
