// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.index

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class WaveletMatrixSuite extends AnyFunSuite {

  private def check(values: Array[Long], bounds: Seq[Long], random: Random): Int = {
    val counts = new WaveletMatrix(values)
    Seq.fill(200) {
      val ends = Seq.fill(2)(random.nextInt(values.length + 1)).sorted
      val least = bounds(random.nextInt(bounds.size))
      val most = bounds(random.nextInt(bounds.size))
      val found = values.slice(ends.head, ends(1)).count(v => least <= v && v <= most)
      assert(counts.count(ends.head, ends(1), least, most) == found)
      found
    }.sum
  }

  test("values of a run between two bounds are counted, whatever they are") {
    val random = new Random(1)
    val extremes = Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, Long.MaxValue - 1, Long.MaxValue)
    for (size <- Seq(1, 2, 3, 63, 64, 65, 1000); few <- Seq(1, 2, 5, 1 << 20)) {
      val values = Array.fill(size)(random.nextInt(few).toLong - few / 2)
      assert(check(values, extremes ++ values, random) > 0)
      val wide = Array.fill(size)(
        if (random.nextBoolean()) random.nextLong() else extremes(random.nextInt(extremes.size)))
      check(wide, extremes ++ wide, random)
    }
  }

  test("no rows have no values") {
    assert(new WaveletMatrix(Array.emptyLongArray).count(0, 0, Long.MinValue, Long.MaxValue) == 0)
  }
}
