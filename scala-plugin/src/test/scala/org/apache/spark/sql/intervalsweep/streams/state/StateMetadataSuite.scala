// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide}

class StateMetadataSuite extends AnyFunSuite {
  private val identity = StateIdentity(Seq("type of join" -> "INNER", "condition" -> "a < b"))
  private val metadata = StateMetadata(
    identity,
    partitions = 7,
    watermark = Some(1000L),
    values = Seq(Long.MinValue, 12L),
    runs = Seq(
      StoredRun(LeftSide, 7L, 32L, 2, 3, 4L, 5L),
      StoredRun(RightSide, -9L, 64L, 7, 8, 9L, 10L, -4L, 9L, parts = 8, attached = 5)))

  test("metadata are read as they were written") {
    assert(StateMetadata.read(metadata.toBytes) == metadata)
    val first = metadata.copy(watermark = None, values = Nil, runs = Nil)
    assert(StateMetadata.read(first.toBytes) == first)
  }

  test("a state of another format is refused as such") {
    val later = metadata.toBytes
    later(0) = 3
    val error = intercept[QueryError](StateMetadata.read(later))
    assert(error.getMessage.startsWith("[INTERVALSWEEP_STREAM.STATE_FORMAT] The checkpoint holds " +
      "state of format 3, and this version of IntervalSweep reads format 2"))
  }

  test("the first text that differs is named, before and now") {
    val other = StateIdentity(Seq("type of join" -> "INNER", "condition" -> "a <= b"))
    val error = intercept[QueryError](other.check(identity))
    assert(error.getMessage.contains(
      "Different condition: in the checkpoint a < b, in this query a <= b."))
    identity.check(identity)
  }

  test("a property that only one of both queries has is named") {
    val more = StateIdentity(identity.texts :+ ("window" -> "5 rows"))
    val error = intercept[QueryError](identity.check(more))
    assert(error.getMessage.contains("window: in the checkpoint 5 rows, in this query nothing."))
  }

  test("different identities have different digests") {
    val others = Seq(
      StateIdentity(Nil),
      StateIdentity(identity.texts.reverse),
      StateIdentity(Seq("type of join" -> "INNER")))
    assert((identity +: others).map(_.digest).distinct.size == 4)
  }
}
