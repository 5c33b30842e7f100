// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.rdd.RDD

/**
 * Collects the rows of an RDD in the driver. `RDD.collect` uses closures, which Spark's
 * ClosureCleaner inspects on every call; this takes milliseconds before the job begins. Named
 * function classes skip the inspection.
 *
 * Java serializes the rows: a Kryo that requires registered classes does not know the classes of
 * this plugin.
 */
private[execution] object CollectPacked {

  def apply[T: ClassTag](rdd: RDD[T]): Seq[T] = {
    val parts = new Array[Array[Byte]](rdd.getNumPartitions)
    val keep = (partition: Int, rows: Array[Byte]) => parts(partition) = rows
    rdd.sparkContext.runJob(rdd, new Rows[T], parts.indices, keep)
    val (java, loader) = (SparkEnv.get.closureSerializer.newInstance(), getClass.getClassLoader)
    parts.toSeq.flatMap(part => java.deserialize[Array[T]](ByteBuffer.wrap(part), loader))
  }

  private final class Rows[T: ClassTag]
      extends ((TaskContext, Iterator[T]) => Array[Byte]) with Serializable {
    override def apply(task: TaskContext, rows: Iterator[T]): Array[Byte] =
      JavaUtils.bufferToArray(SparkEnv.get.closureSerializer.newInstance().serialize(rows.toArray))
  }
}
