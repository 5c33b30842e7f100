// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

/** Values of rows whose order changes. */
private[execution] object Permutation {

  /** The first `n` values in a new order, in an array as long as the old one. */
  def permuted(values: Array[Long], order: Array[Int], n: Int): Array[Long] = {
    val result = new Array[Long](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }

  /** The same of numbers of 32 bits. */
  def permuted(values: Array[Int], order: Array[Int], n: Int): Array[Int] = {
    val result = new Array[Int](values.length)
    var i = 0
    while (i < n) { result(i) = values(order(i)); i += 1 }
    result
  }
}
