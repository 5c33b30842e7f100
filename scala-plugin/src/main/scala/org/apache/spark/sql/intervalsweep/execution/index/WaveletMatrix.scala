// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.index

import java.util.Arrays

/**
 * Counts the values of a run of rows that lie between two bounds. The time is logarithmic in the
 * number of rows, whatever the count is. The structure is a wavelet matrix over the ranks of the
 * values (Claude, Navarro, Ordonez: The wavelet matrix, Information Systems 47, 2015).
 *
 * There is a level for each bit of a rank, from the highest bit on. Each level moves the rows with
 * that bit behind the rows without it, and otherwise keeps their order. The number of such bits
 * before each row tells where a run of rows is on the next level.
 */
private[intervalsweep] final class WaveletMatrix(values: Array[Long]) {
  private val distinct: Array[Long] = WaveletMatrix.distinct(values)
  private val levels: Array[WaveletMatrix.Level] = {
    var ranks = values.map(Arrays.binarySearch(distinct, _))
    val bits = 32 - Integer.numberOfLeadingZeros(math.max(distinct.length - 1, 0))
    Array.tabulate(bits) { k =>
      val level = new WaveletMatrix.Level(ranks, bits - 1 - k)
      ranks = level.moved(ranks)
      level
    }
  }

  /** The number of rows from `first` until `end` whose value is from `least` to `most`. */
  def count(first: Int, end: Int, least: Long, most: Long): Int =
    if (least > most) 0
    else
      below(first, end, rank(most, isBehind = true)) -
        below(first, end, rank(least, isBehind = false))

  /** The number of rows from `first` until `end` whose rank is below a bound. */
  private def below(first: Int, end: Int, rank: Int): Int =
    if (rank == 0) 0
    else if (rank == distinct.length) end - first
    else {
      var (from, until, found) = (first, end, 0)
      var k = 0
      while (k < levels.length && from < until) {
        val level = levels(k)
        val (ones, allOnes) = (level.ones(from), level.ones(until))
        if (((rank >>> (levels.length - 1 - k)) & 1) != 0) {
          found += (until - from) - (allOnes - ones)
          from = level.zeros + ones
          until = level.zeros + allOnes
        } else {
          from -= ones
          until -= allOnes
        }
        k += 1
      }
      found
    }

  /** The number of distinct values below `value`. `isBehind` counts `value` itself, too. */
  private def rank(value: Long, isBehind: Boolean): Int = {
    val place = Arrays.binarySearch(distinct, value)
    if (place < 0) -place - 1 else if (isBehind) place + 1 else place
  }
}

private object WaveletMatrix {
  private def distinct(values: Array[Long]): Array[Long] = {
    val sorted = values.clone()
    Arrays.sort(sorted)
    var n = 0
    sorted.foreach { value =>
      if (n == 0 || sorted(n - 1) != value) { sorted(n) = value; n += 1 }
    }
    Arrays.copyOf(sorted, n)
  }

  /** One bit of all ranks, and the number of set bits before each 64 of them. */
  private final class Level(ranks: Array[Int], bit: Int) {
    private val words = new Array[Long]((ranks.length >> 6) + 1)
    private val before = new Array[Int](words.length)
    private def isSet(rank: Int) = ((rank >>> bit) & 1) != 0

    {
      var i = 0
      while (i < ranks.length) {
        if (isSet(ranks(i))) words(i >> 6) |= 1L << i
        i += 1
      }
      var w = 1
      while (w < words.length) {
        before(w) = before(w - 1) + java.lang.Long.bitCount(words(w - 1))
        w += 1
      }
    }

    val zeros: Int = ranks.length - ones(ranks.length)

    /** The number of set bits before place `i`. */
    def ones(i: Int): Int =
      before(i >> 6) + java.lang.Long.bitCount(words(i >> 6) & ((1L << i) - 1))

    /** The ranks in the order of the next level. */
    def moved(ranks: Array[Int]): Array[Int] = {
      val to = new Array[Int](ranks.length)
      var (low, high) = (0, zeros)
      ranks.foreach { rank =>
        if (isSet(rank)) { to(high) = rank; high += 1 }
        else { to(low) = rank; low += 1 }
      }
      to
    }
  }
}
