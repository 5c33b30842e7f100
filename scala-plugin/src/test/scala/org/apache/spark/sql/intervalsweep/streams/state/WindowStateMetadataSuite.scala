// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.AnalysisException

class WindowStateMetadataSuite extends AnyFunSuite {
  private val bucket = new TimeBucket(1, TimeBucketId(37, level = 2))
  bucket.rows = 5
  bucket.parts = 3
  bucket.hasSummary = true
  bucket.minTime = -4
  bucket.maxTime = 9
  private val head =
    WindowStateMetadata(
      1000,
      WindowStateMetadata.NoTimer,
      2,
      250000,
      Seq("keys" -> "k = k"),
      Seq(bucket))

  test("a head is read as it was written") {
    val read = WindowStateMetadata.read(head.toBytes)
    assert(read.copy(buckets = Nil) == head.copy(buckets = Nil))
    def fields(s: TimeBucket) = (s.side, s.id, s.rows, s.parts, s.hasSummary, s.minTime, s.maxTime)
    assert(read.buckets.map(fields) == Seq(fields(bucket)))
  }

  test("a head of a later format is refused") {
    val later = head.toBytes
    later(0) = 2
    val error = intercept[AnalysisException](WindowStateMetadata.read(later))
    assert(error.getMessage.startsWith("[INTERVALSWEEP_STREAM.STATE_FORMAT] The checkpoint holds " +
      "state of format 2, and this version of IntervalSweep reads format 1"))
  }
}
