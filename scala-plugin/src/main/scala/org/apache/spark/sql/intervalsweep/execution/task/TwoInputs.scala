// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/**
 * Both inputs of a task in one iterator, which only [[SweepTasks]] splits. Some of Spark's
 * operators, UNION ALL is one, make whole-stage code of children with one input only.
 *
 * @param partition the number of the join's partition; the number that generated code has may be
 *   that of another operator's
 */
final class TwoInputs(
    val partition: Int,
    val left: Iterator[InternalRow],
    val right: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = left.hasNext || right.hasNext
  override def next(): InternalRow = throw new UnsupportedOperationException
}

object TwoInputs {
  def zip(left: RDD[InternalRow], right: RDD[InternalRow]): RDD[InternalRow] =
    left.zipPartitions(right)((l, r) => Iterator((l, r))).mapPartitionsWithIndexInternal {
      (k, pairs) =>
        val (l, r) = pairs.next()
        new TwoInputs(k, l, r)
    }
}
