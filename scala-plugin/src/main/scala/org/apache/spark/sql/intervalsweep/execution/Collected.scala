// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import scala.reflect.ClassTag

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD

/**
 * The rows of an RDD, in the driver, as `RDD.collect` has them. That takes milliseconds more before
 * its job begins: it runs anonymous functions, whose classes Spark reads each time for what they
 * hold. What runs here has a name.
 */
private[execution] object Collected {

  def apply[T: ClassTag](rdd: RDD[T]): Seq[T] = {
    val parts = new Array[Array[T]](rdd.getNumPartitions)
    val keep = (partition: Int, rows: Array[T]) => parts(partition) = rows
    rdd.sparkContext.runJob(rdd, new Rows[T], parts.indices, keep)
    parts.toSeq.flatten
  }

  private final class Rows[T: ClassTag]
      extends ((TaskContext, Iterator[T]) => Array[T]) with Serializable {
    override def apply(task: TaskContext, rows: Iterator[T]): Array[T] = rows.toArray
  }
}
