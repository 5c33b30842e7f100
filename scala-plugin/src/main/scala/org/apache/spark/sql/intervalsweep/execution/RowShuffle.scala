// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.{PartitionIdPassthrough, ShuffleDependency, SparkContext, SparkEnv}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.{ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.{
  SQLMetric, SQLShuffleReadMetricsReporter, SQLShuffleWriteMetricsReporter
}

/** Spark's own shuffle of rows, within the node. */
object RowShuffle {

  /**
   * @param addressed rows with the numbers of the partitions that they go to; the objects may be
   *   the same for every row
   * @param metrics of the node: reads and writes are reported there
   */
  def apply(
      addressed: RDD[Product2[Int, InternalRow]],
      partitions: Int,
      numFields: Int,
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    val dependency = new ShuffleDependency[Int, InternalRow, InternalRow](
      if (keepsRows) addressed.mapPartitions(_.map(copied)) else addressed,
      new PartitionIdPassthrough(partitions),
      new UnsafeRowSerializer(numFields),
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(metrics))
    new ShuffledRowRDD(dependency, metrics)
  }

  /** Spark's sort shuffle serialises a row at once; of another shuffle that is not known. */
  private def keepsRows: Boolean =
    !Set("sort", "tungsten-sort").contains(SparkEnv.get.conf.get("spark.shuffle.manager", "sort"))

  private def copied(pair: Product2[Int, InternalRow]): Product2[Int, InternalRow] =
    (pair._1, pair._2.copy())

  def createMetrics(sc: SparkContext): Map[String, SQLMetric] =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sc) ++
      SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sc)
}
