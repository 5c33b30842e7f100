package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.RadixSort

/** Orders the rows of a block by (group, coordinate) without comparing: radix, then counting. */
object EndpointOrder {

  /**
   * The order of the first `n` rows, or None when they are in order already.
   *
   * @param groups group numbers from 0 on, or null when there is one group
   * @param coordinate what to order by within a group
   * @return the old positions in their new order
   */
  def of(groups: Array[Int], coordinate: Array[Long], n: Int): Option[Array[Int]] =
    if (isOrdered(groups, coordinate, n)) None
    else {
      val byCoordinate = radix(coordinate, n)
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

  /** Spark's radix sort of (row, key) pairs; it needs as much room again behind them. */
  private def radix(coordinate: Array[Long], n: Int): Array[Int] = {
    val pairs = new LongArray(MemoryBlock.fromLongArray(new Array[Long](4 * n)))
    var i = 0
    while (i < n) {
      pairs.set(2 * i, i.toLong)
      pairs.set(2 * i + 1, coordinate(i))
      i += 1
    }
    val start = RadixSort.sortKeyPrefixArray(pairs, 0L, n.toLong, 0, 7, false, true)
    Array.tabulate(n)(k => pairs.get(start + 2 * k).toInt)
  }

  /** Stable, so that the order by coordinate survives within a group. */
  private def counting(order: Array[Int], groups: Array[Int], n: Int): Array[Int] = {
    var last = 0
    order.foreach(row => last = math.max(last, groups(row)))
    val next = new Array[Int](last + 2)
    order.foreach(row => next(groups(row) + 1) += 1)
    (1 to last + 1).foreach(g => next(g) += next(g - 1))
    val result = new Array[Int](n)
    order.foreach { row =>
      result(next(groups(row))) = row
      next(groups(row)) += 1
    }
    result
  }

  /** The first `n` values in a new order, in an array as long as the old one. */
  def permuted(values: Array[Long], order: Array[Int], n: Int): Array[Long] = {
    val result = new Array[Long](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }
}
