// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * The state partition of a row, from the hash `child`. This is a placeholder: the number of state
 * partitions is known when a micro-batch is planned, and the rule `ResolveStatePartitions` then
 * puts the number in. A stateful operator groups rows by this value. There is one group per state
 * partition, so one call has all rows of a state partition.
 */
case class StatePartitionHash(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override protected def withNewChildInternal(newChild: Expression): StatePartitionHash =
    copy(child = newChild)
}

object StatePartitions {

  /** Fails unless the session uses the RocksDB state store, which Spark's operator needs. */
  def checkStateStore(conf: SQLConf): Unit = {
    val setting = SQLConf.STATE_STORE_PROVIDER_CLASS
    val wanted = classOf[RocksDBStateStoreProvider].getName
    val found = conf.getConf(setting)
    if (found != wanted) StreamErrors.stateStore(setting.key, found, wanted)
  }

  /** The number of state partitions of a query. The checkpoint fixes it. */
  def partitions(conf: SQLConf): Int =
    conf.getConfString(Setting, conf.numShufflePartitions.toString).toInt

  // Since Spark 4.3 the offset log has a separate setting for the number of state partitions.
  private[partitioning] val Setting = "spark.sql.streaming.internal.stateStore.partitions"

  /** For each partition the smallest number from 0 on that Spark's hash assigns to it. */
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
