// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.{
  PartitionIdPassthrough, ShuffleDependency, SparkContext, SparkEnv, TaskContext
}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.{ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.{
  SQLMetric, SQLShuffleReadMetricsReporter, SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.types.DataType

/**
 * Spark's own shuffle, run within a node. It moves rows that [[RowPacker]] has packed, so its
 * serializer and streams are called once for some thousand rows.
 */
object RowShuffle {

  /**
   * @param addressed the rows; the objects may be reused for every row
   * @param metrics metrics of the node, which count reads and writes in rows
   */
  def apply(
      addressed: RDD[AddressedRow],
      partitions: Int,
      types: Array[DataType],
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    val packing = ShufflePacking(partitions, types.length, metrics)
    val packed = addressed.mapPartitionsInternal[Product2[Int, InternalRow]](
      new PackedAddresses(_, packing))
    unpacked(new ShuffledRowRDD(dependency(packed, packing), metrics), metrics)(
      RowUnpacker.unpack(_, types))
  }

  /** The shuffle of chunks of packed rows. Each of its rows has one chunk. */
  def dependency(
      packed: RDD[Product2[Int, InternalRow]],
      packing: ShufflePacking): ShuffleDependency[Int, InternalRow, InternalRow] =
    new ShuffleDependency[Int, InternalRow, InternalRow](
      if (keepsRows) packed.mapPartitionsInternal(_.map(copied)) else packed,
      new PartitionIdPassthrough(packing.partitions),
      new UnsafeRowSerializer(ShufflePacking.columns.length),
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(packing.metrics))

  /** The rows that `unpack` reads from the chunks of a shuffle. */
  def unpacked(chunks: RDD[InternalRow], metrics: Map[String, SQLMetric])(
      unpack: Iterator[Array[Byte]] => Iterator[InternalRow]): RDD[InternalRow] = {
    val read = metrics(SQLShuffleReadMetricsReporter.RECORDS_READ)
    chunks.mapPartitionsInternal { chunks =>
      val counted = TaskContext.get().taskMetrics().createTempShuffleReadMetrics()
      unpack(chunks.map { chunk =>
        val bytes = chunk.getBinary(0)
        val rows = RowUnpacker.numRows(bytes)
        counted.incRecordsRead(rows - 1L)
        read.add(rows - 1L)
        bytes
      })
    }
  }

  /**
   * True if the shuffle may keep a row. Spark's sort shuffle serializes each row at once; of other
   * shuffles this is not known.
   */
  private def keepsRows: Boolean =
    !Set("sort", "tungsten-sort").contains(SparkEnv.get.conf.get("spark.shuffle.manager", "sort"))

  private def copied(pair: Product2[Int, InternalRow]): Product2[Int, InternalRow] =
    (pair._1, pair._2.copy())

  def createMetrics(sc: SparkContext): Map[String, SQLMetric] =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sc) ++
      SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sc)
}
