// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

class PeriodChunkSuite extends AnyFunSuite {
  private val random = new Random(5)

  private def chunk(groups: Seq[Int]): PeriodChunk = {
    val chunk = new PeriodChunk(3, 1 << 16, KeyNumbersSuite.NoLimit)
    val key = UnsafeProjection.create(Array[DataType](LongType))
    (0 to groups.maxOption.getOrElse(-1)).foreach(k =>
      chunk.keys.add(key(InternalRow(k.toLong))))
    groups.zipWithIndex.foreach { case (group, i) =>
      assert(chunk.hasRoom())
      chunk.add(group, k => 10L * i + k)
    }
    chunk
  }

  test("rows that are the only ones of their group go behind all others") {
    for (n <- 0 to 40; different <- Seq(1, n, 4 * n)) {
      val groups = Seq.fill(n)(random.nextInt(different + 1))
      val rows = chunk(groups)
      val others = rows.moveSingles()
      val found = (0 until n).map(i => (rows.groups(i), rows.row(i).toSeq))
      assert(found.toSet === groups.zipWithIndex.map { case (group, i) =>
        (group, Seq(10L * i, 10L * i + 1, 10L * i + 2))
      }.toSet)
      val times = groups.groupBy(identity).view.mapValues(_.size)
      assert(found.map(row => times(row._1) == 1) === (0 until n).map(_ >= others), groups)
    }
  }
}
