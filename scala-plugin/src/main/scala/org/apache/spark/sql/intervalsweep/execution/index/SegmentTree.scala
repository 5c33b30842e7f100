// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.index

/**
 * A binary tree over `leaves` leaves, in an array of twice as many nodes: leaf `i` is node `leaves
 * + i`, and node `k` is the parent of the nodes `2 k` and `2 k + 1`.
 */
private[execution] object SegmentTree {

  /** Visits the O(log n) nodes that together cover the leaves [first, first + count). */
  def cover(leaves: Int, first: Int, count: Int)(visit: Int => Unit): Unit = {
    var from = first + leaves
    var to = first + count + leaves
    while (from < to) {
      if ((from & 1) == 1) { visit(from); from += 1 }
      if ((to & 1) == 1) { to -= 1; visit(to) }
      from >>= 1
      to >>= 1
    }
  }

  /** Visits each inner node, from the root down, with each of its two children. */
  def descend(leaves: Int)(visit: (Int, Int) => Unit): Unit = {
    var i = 1
    while (i < leaves) {
      visit(i, 2 * i)
      visit(i, 2 * i + 1)
      i += 1
    }
  }
}
