// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.AnalysisException

class SliceHeadSuite extends AnyFunSuite {
  private val slice = new Slice(1, SliceId(37, level = 2))
  slice.rows = 5
  slice.parts = 3
  slice.hasSummary = true
  slice.minTime = -4
  slice.maxTime = 9
  private val head =
    SliceHead(1000, SliceHead.NoTimer, 2, 250000, Seq("keys" -> "k = k"), Seq(slice))

  test("a head is read as it was written") {
    val read = SliceHead.read(head.toBytes)
    assert(read.copy(slices = Nil) == head.copy(slices = Nil))
    def fields(s: Slice) = (s.side, s.id, s.rows, s.parts, s.hasSummary, s.minTime, s.maxTime)
    assert(read.slices.map(fields) == Seq(fields(slice)))
  }

  test("a head of a later format is refused") {
    val later = head.toBytes
    later(0) = 2
    val error = intercept[AnalysisException](SliceHead.read(later))
    assert(error.getMessage.startsWith("[INTERVALSWEEP_STREAM.STATE_FORMAT] The checkpoint holds " +
      "state of format 2, and this version of IntervalSweep reads format 1"))
  }
}
