// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

/** Puts values into a new order of rows. */
private[execution] object Permutation {

  /**
   * The first `n` values in a new order, in an array as long as the old one: value `i` is the old
   * value `order(i)`.
   */
  def permuted(values: Array[Long], order: Array[Int], n: Int): Array[Long] = {
    val result = new Array[Long](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }

  /** Same for numbers of 32 bits. */
  def permuted(values: Array[Int], order: Array[Int], n: Int): Array[Int] = {
    val result = new Array[Int](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }
}
