// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.{Arrays, Comparator}
import java.util.stream.IntStream

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.intervalsweep.execution.packing.Permutation
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.RadixSort

/**
 * Sorts the rows of a block by (group, coordinate) without comparisons: a radix sort by coordinate,
 * then a counting sort by group. Small groups that are together already are sorted by insertion.
 */
object EndpointOrder {

  /** The average and the largest number of rows of groups that are sorted by insertion. */
  private val SmallGroup = 16
  private val LargestInserted = 256

  /** Fewer rows are not worth a second thread. */
  private val LargestInOne = 1 << 16

  /**
   * The order of the first `n` rows; None if they are in order already.
   *
   * @param groups group numbers from 0 on; null if there is one group
   * @param coordinate the sort key within a group
   * @param inParallel true if other cores are idle meanwhile
   * @param ties the sort key of rows with equal coordinates; null keeps the order in which rows
   *   come
   * @return the old positions in their new order
   */
  def of(
      groups: Array[Int],
      coordinate: Array[Long],
      n: Int,
      inParallel: Boolean = false,
      ties: Array[Long] = null): Option[Array[Int]] =
    Option(ties).flatMap(stable(groups = null, _, n, inParallel)) match {
      case None => stable(groups, coordinate, n, inParallel)
      case Some(byTies) =>
        val permutedGroups = if (groups == null) null else Permutation.permuted(groups, byTies, n)
        val sorted =
          stable(permutedGroups, Permutation.permuted(coordinate, byTies, n), n, inParallel)
        sorted.map(Permutation.permuted(byTies, _, n)).orElse(Some(byTies))
    }

  /** Keeps the order of equal rows. */
  private def stable(
      groups: Array[Int],
      coordinate: Array[Long],
      n: Int,
      inParallel: Boolean): Option[Array[Int]] =
    if (isOrdered(groups, coordinate, n)) None
    else if (haveSmallGroups(groups, n)) Some(insertion(groups, coordinate, n))
    else {
      val byCoordinate = radix(coordinate, n, inParallel)
      Some(if (groups == null) byCoordinate else counting(byCoordinate, groups, n))
    }

  private def isOrdered(groups: Array[Int], coordinate: Array[Long], n: Int): Boolean = {
    var i = 1
    while (i < n && inOrder(groups, coordinate, i)) i += 1
    i >= n
  }

  private def inOrder(groups: Array[Int], coordinate: Array[Long], i: Int): Boolean =
    if (groups == null || groups(i - 1) == groups(i)) coordinate(i - 1) <= coordinate(i)
    else groups(i - 1) < groups(i)

  /** True if the rows are ordered by group already, and the groups have few rows. */
  private def haveSmallGroups(groups: Array[Int], n: Int): Boolean =
    groups != null && (n - 1) / SmallGroup <= groups(n - 1) && {
      var start = 0
      var i = 1
      while (i < n && groups(i - 1) <= groups(i) && i - start < LargestInserted) {
        if (groups(i - 1) < groups(i)) start = i
        i += 1
      }
      i >= n
    }

  /**
   * Sorts each group by insertion. If groups are small, this is faster than sorting all rows at
   * once.
   */
  private def insertion(groups: Array[Int], coordinate: Array[Long], n: Int): Array[Int] = {
    val order = new Array[Int](n)
    var i = 0
    while (i < n) {
      val (group, value) = (groups(i), coordinate(i))
      var at = i
      while (at > 0 && groups(order(at - 1)) == group && coordinate(order(at - 1)) > value) {
        order(at) = order(at - 1)
        at -= 1
      }
      order(at) = i
      i += 1
    }
    order
  }

  /**
   * Sorts by Spark's radix sort. It sorts one number per row if coordinate and row number fit into
   * 64 bits.
   */
  private def radix(coordinate: Array[Long], n: Int, inParallel: Boolean): Array[Int] = {
    var least = Long.MaxValue
    var most = Long.MinValue
    var i = 0
    while (i < n) {
      least = math.min(least, coordinate(i))
      most = math.max(most, coordinate(i))
      i += 1
    }
    val rowBits = 32 - Integer.numberOfLeadingZeros(n - 1)
    val isSmall = rowBits <= java.lang.Long.numberOfLeadingZeros(most - least)
    if (!isSmall) byPair(coordinate, n)
    else {
      val cuts = if (inParallel && n >= LargestInOne) Array(0, n / 2, n) else Array(0, n)
      val parts = new Array[RowNumbers](cuts.length - 1)
      IntStream.range(0, parts.length).parallel().forEach { k =>
        parts(k) = new RowNumbers(coordinate, least, rowBits, cuts(k), cuts(k + 1))
      }
      if (parts.length == 1) parts(0).rows else RowNumbers.merged(parts(0), parts(1))
    }
  }

  /**
   * Sorts pairs of row number and coordinate. The sort needs as much space again behind the pairs.
   */
  private def byPair(coordinate: Array[Long], n: Int): Array[Int] = {
    val pairs = new Array[Long](4 * n)
    var i = 0
    while (i < n) {
      pairs(2 * i) = i.toLong
      pairs(2 * i + 1) = coordinate(i)
      i += 1
    }
    val sorted = new LongArray(MemoryBlock.fromLongArray(pairs))
    val start = RadixSort.sortKeyPrefixArray(sorted, 0L, n.toLong, 0, 7, false, true)
    val order = new Array[Int](n)
    i = 0
    while (i < n) { order(i) = pairs(start + 2 * i).toInt; i += 1 }
    order
  }

  /** A counting sort. It is stable, so the order by coordinate survives within a group. */
  private def counting(order: Array[Int], groups: Array[Int], n: Int): Array[Int] = {
    val next = groupStarts(groups, n)
    val result = new Array[Int](n)
    var i = 0
    while (i < n) {
      val group = groups(order(i))
      result(next(group)) = order(i)
      next(group) += 1
      i += 1
    }
    result
  }

  /** The number of rows in earlier groups, for each group. */
  private def groupStarts(groups: Array[Int], n: Int): Array[Int] = {
    var last = 0
    var i = 0
    while (i < n) { last = math.max(last, groups(i)); i += 1 }
    val starts = new Array[Int](last + 2)
    i = 0
    while (i < n) { starts(groups(i) + 1) += 1; i += 1 }
    var g = 1
    while (g < starts.length) { starts(g) += starts(g - 1); g += 1 }
    starts
  }
}

/**
 * The rows `[from, until)` in the order of their coordinates. They are sorted as unsigned numbers:
 * the lower bits are the row number, and the higher bits the distance of the coordinate from the
 * least one.
 */
private final class RowNumbers(
    coordinate: Array[Long],
    least: Long,
    rowBits: Int,
    from: Int,
    until: Int) {
  private val n = until - from
  private val mask = (1L << rowBits) - 1
  private val numbers = new Array[Long](2 * n)
  private val start = sort()

  private def sort(): Int = {
    var i = 0
    while (i < n) {
      numbers(i) = (coordinate(from + i) - least) << rowBits | (from + i)
      i += 1
    }
    val array = new LongArray(MemoryBlock.fromLongArray(numbers))
    RadixSort.sort(array, n.toLong, rowBits / 8, 7, false, false)
  }

  def rows: Array[Int] = {
    val rows = new Array[Int](n)
    var i = 0
    while (i < n) { rows(i) = (numbers(start + i) & mask).toInt; i += 1 }
    rows
  }
}

private object RowNumbers {

  /** Merges the rows of both. */
  def merged(a: RowNumbers, b: RowNumbers): Array[Int] = {
    val (x, y, mask) = (a.numbers, b.numbers, a.mask)
    val (xEnd, yEnd) = (a.start + a.n, b.start + b.n)
    val rows = new Array[Int](a.n + b.n)
    var i = a.start
    var j = b.start
    var k = 0
    while (i < xEnd && j < yEnd) {
      val isX = x(i) + Long.MinValue <= y(j) + Long.MinValue
      rows(k) = ((if (isX) x(i) else y(j)) & mask).toInt
      i += (if (isX) 1 else 0)
      j += (if (isX) 0 else 1)
      k += 1
    }
    while (i < xEnd) { rows(k) = (x(i) & mask).toInt; i += 1; k += 1 }
    while (j < yEnd) { rows(k) = (y(j) & mask).toInt; j += 1; k += 1 }
    rows
  }
}

/**
 * Orders the rows of one group that have the same coordinate, by the columns of
 * [[BlockLayout.ties]]. It looks at the columns of such rows only.
 */
private[block] final class TieOrder(
    layout: BlockLayout,
    columns: Array[BlockColumn],
    groups: Array[Int],
    coordinate: Array[Long],
    numRows: Int) {
  private lazy val (left, right) = (BlockRow(columns), BlockRow(columns))
  private lazy val ordering = RowOrdering.create(layout.ties, layout.payload)

  private lazy val comparator: Comparator[Integer] = (a, b) => {
    left.position = a
    right.position = b
    ordering.compare(left, right)
  }

  /** @param sorted the order by group and coordinate; None if the rows are in this order */
  def of(sorted: Option[Array[Int]]): Option[Array[Int]] = {
    val rowAt: Int => Int = sorted.fold[Int => Int](identity)(order => order(_))
    var result = sorted
    var first = 0
    while (first < numRows) {
      var end = first + 1
      while (end < numRows && areTied(rowAt(first), rowAt(end))) end += 1
      if (end - first > 1) {
        result = result.orElse(Some(Array.range(0, numRows)))
        sort(result.get, first, end)
      }
      first = end
    }
    result
  }

  private def areTied(a: Int, b: Int): Boolean =
    coordinate(a) == coordinate(b) && (groups == null || groups(a) == groups(b))

  private def sort(order: Array[Int], from: Int, until: Int): Unit = {
    val rows = Array.tabulate[Integer](until - from)(i => order(from + i))
    Arrays.sort(rows, comparator)
    rows.indices.foreach(i => order(from + i) = rows(i))
  }
}
