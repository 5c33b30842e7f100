// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.index

/** Rows in memory, sorted by key and then by an endpoint. */
trait SortedPoints {
  def numRows: Int

  /** The values of each endpoint, by row. The arrays may be longer than there are rows. */
  def endpoints: Array[Array[Long]]

  /** The least and greatest values of blocks of an endpoint; null if that index is not worth it. */
  def minMax(endpoint: Int): MinMaxIndex
}

/** The points with the key of a box: the rows from `first` until `end`, which [[read]] sets. */
abstract class KeyRange {
  var first: Int = 0
  var end: Int = 0

  def read(box: Int): Unit
}

object KeyRange {

  /** Keys as group numbers; the rows of group `g` start at `offsets(g)`: O(1) per box. */
  def ofGroups(boxes: Array[Int], offsets: Array[Int]): KeyRange = new KeyRange {
    override def read(box: Int): Unit = {
      val group = if (boxes == null) 0 else boxes(box)
      // The last groups of the boxes may have no points.
      val isAny = group + 1 < offsets.length
      first = if (isAny) offsets(group) else 0
      end = if (isAny) offsets(group + 1) else 0
    }
  }

  /** Sorted keys, of boxes and of points: O(log n) per box with another key than the box before. */
  def ofSorted(boxes: Array[Long], points: Array[Long]): KeyRange = new KeyRange {
    private var known = -1

    override def read(box: Int): Unit = if (known < 0 || boxes(box) != boxes(known)) {
      val key = boxes(box)
      first = atLeast(points, key, 0, points.length)
      end =
        if (key == Long.MaxValue) points.length else atLeast(points, key + 1, first, points.length)
      known = box
    }
  }

  /** The place of the first of the sorted values in [from, until) that is at least `least`. */
  def atLeast(values: Array[Long], least: Long, from: Int, until: Int): Int = {
    var (low, high) = (from, until)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (values(middle) < least) low = middle + 1 else high = middle
    }
    low
  }
}
