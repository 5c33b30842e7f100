// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.task

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/**
 * Both inputs of a task in one iterator, which only [[SweepTasks]] divides again. Some of Spark's
 * operators, such as UNION ALL, use whole-stage code only for children with a single input.
 *
 * @param partition the number of the join's partition. The partition number of generated code may
 *   be that of another operator.
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
