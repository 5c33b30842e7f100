// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.joins.{JoinStateMetadata, SortedRun}

class JoinStateIdentitySuite extends AnyFunSuite {
  private val written = JoinStateIdentity(7, Seq("type of join" -> "INNER", "condition" -> "a < b"))
  private val head = JoinStateMetadata(
    Seq(SortedRun(LeftSide, 1L, 2, 3, 4L, 5L), SortedRun(RightSide, 6L, 7, 8, 9L, 10L)),
    Map[Side, Long](LeftSide -> 11L, RightSide -> 12L),
    timer = 13L)

  test("a head is read as it was written, with what it was written for") {
    assert(JoinStateMetadata.read(JoinStateMetadata.toBytes(head, written)) == ((head, written)))
  }

  test("a head of the first format has no texts, and is read") {
    val bytes = JoinStateMetadata.toBytes(head, written).dropRight(written.packed.length)
    ByteBuffer.wrap(bytes).putInt(0, 1)
    assert(JoinStateMetadata.read(bytes) == ((head, JoinStateIdentity(7, Nil))))
  }

  test("a state of a later version is refused as such") {
    val bytes = JoinStateMetadata.toBytes(head, written)
    ByteBuffer.wrap(bytes).putInt(0, 3)
    val error = intercept[QueryError](JoinStateMetadata.read(bytes))
    assert(error.getMessage.contains("[INTERVALSWEEP_STREAM.STATE_FORMAT]"))
    assert(error.getMessage.contains("format 3"))
    assert(error.getMessage.contains("format 2"))
  }

  test("the first text that differs is named, before and now") {
    val other = JoinStateIdentity(8, Seq("type of join" -> "INNER", "condition" -> "a <= b"))
    val error = intercept[QueryError](other.check(written))
    assert(error.getMessage.contains(
      "Different condition: in the checkpoint a < b, in this query a <= b."))
    written.check(written.copy(texts = Nil))
  }

  test("of a state without texts it is said what is wanted") {
    val error = intercept[QueryError](written.check(JoinStateIdentity(8, Nil)))
    assert(error.getMessage.contains("did not record it), in this query INNER; a < b."))
  }
}
