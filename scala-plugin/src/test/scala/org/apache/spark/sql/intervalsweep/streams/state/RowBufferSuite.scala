// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.scalatest.funsuite.AnyFunSuite

class RowBufferSuite extends AnyFunSuite {

  test("rows of one micro-batch that no array can hold are refused, with what to do") {
    val almostFull = new RowBuffer(new Array[Byte](0), Array(0, Int.MaxValue - 100), size = 1)
    val error = intercept[IllegalStateException](almostFull.add(new Array[Byte](64), 0, 64))
    assert(error.getMessage.startsWith("[INTERVALSWEEP_STREAM.TOO_MANY_ROWS] A task has 2 rows"))
    assert(error.getMessage.contains("fewer rows per batch"))
    assert(error.getMessage.contains("spark.sql.shuffle.partitions"))
  }

  test("rows that fit are kept one behind the other") {
    val rows = new RowBuffer
    Seq(Array[Byte](1, 2), Array[Byte](3)).foreach(row => rows.add(row, 0, row.length))
    assert((rows.size, rows.offset(1), rows.length(1)) == ((2, 2, 1)))
    assert(rows.data.take(3).sameElements(Array[Byte](1, 2, 3)))
  }
}
