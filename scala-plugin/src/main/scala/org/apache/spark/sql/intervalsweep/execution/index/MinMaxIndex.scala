// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.index

/**
 * The least and the greatest value of each block of 16 values, of each 256, and so on, up to a
 * level of few blocks.
 */
final class MinMaxIndex(values: Array[Long]) {
  private val levels: Array[MinMaxIndex.Level] = {
    val first = MinMaxIndex.level(values, values)
    Iterator.iterate(first)(l => MinMaxIndex.level(l.least, l.most))
      .takeWhile(l => (l eq first) || l.size > 1).toArray
  }

  /**
   * The first row from `i` on, before `end`, whose block may have a value between `from` and `to`.
   */
  def skip(i: Int, end: Int, from: Long, to: Long): Int = {
    val top = levels.length - 1
    var level = top
    var at = i
    while (level >= 0 && at < end) {
      val bits = MinMaxIndex.Bits * (level + 1)
      val bounds = levels(level)
      val block = at >> bits
      if (bounds.least(block) > to || bounds.most(block) < from) {
        at = (block + 1) << bits
        // At the start of a larger block, look at the larger block first.
        while (level < top && (at & ((1 << MinMaxIndex.Bits * (level + 2)) - 1)) == 0) level += 1
      } else level -= 1
    }
    math.min(at, end)
  }
}

object MinMaxIndex {
  val Bits = 4
  val Size: Int = 1 << Bits

  private final class Level(val least: Array[Long], val most: Array[Long]) {
    def size: Int = least.length
  }

  private def level(low: Array[Long], high: Array[Long]): Level = {
    val n = (low.length + Size - 1) >> Bits
    val (least, most) = (Array.fill(n)(Long.MaxValue), Array.fill(n)(Long.MinValue))
    var i = 0
    while (i < low.length) {
      val b = i >> Bits
      least(b) = math.min(least(b), low(i))
      most(b) = math.max(most(b), high(i))
      i += 1
    }
    new Level(least, most)
  }
}
