// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * The partition of a row, by a hash of what belongs together. A stateful operator groups by partitions, one in
 * each partition, and has all of a partition's rows in one call.
 */
case class StatePartitionHash(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override protected def withNewChildInternal(newChild: Expression): StatePartitionHash =
    copy(child = newChild)
}

object StatePartitions {

  /** Fails if state would be kept where Spark's operator cannot keep it. */
  def checkStateStore(conf: SQLConf): Unit = {
    val setting = SQLConf.STATE_STORE_PROVIDER_CLASS
    val wanted = classOf[RocksDBStateStoreProvider].getName
    val found = conf.getConf(setting)
    if (found != wanted) StreamErrors.stateStore(setting.key, found, wanted)
  }

  /** How many partitions the state of a query has, from its checkpoint on. */
  def partitions(conf: SQLConf): Int =
    conf.getConfString(StatePartitions, conf.numShufflePartitions.toString).toInt

  // Since Spark 4.3 the number of state partitions has a setting of its own in the offset log.
  private val StatePartitions = "spark.sql.streaming.internal.stateStore.partitions"

  /** For each partition the least number that Spark's hash brings there. */
  def numbers(partitions: Int): Array[Int] = {
    val found = Array.fill(partitions)(-1)
    var missing = partitions
    var number = 0
    while (missing > 0) {
      val hash = Murmur3HashFunction.hash(number, IntegerType, 42L).toInt
      val partition = Math.floorMod(hash, partitions)
      if (found(partition) < 0) { found(partition) = number; missing -= 1 }
      number += 1
    }
    found
  }
}
