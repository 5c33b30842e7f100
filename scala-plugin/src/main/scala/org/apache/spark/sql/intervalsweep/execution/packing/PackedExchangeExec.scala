// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import scala.concurrent.Future

import org.apache.spark.{MapOutputStatistics, ShuffleDependency}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.{
  ShuffledRowRDD, ShufflePartitionSpec, SparkPlan, SQLExecution
}
import org.apache.spark.sql.execution.exchange.{
  ENSURE_REQUIREMENTS, ShuffleExchangeLike, ShuffleOrigin
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics, SQLShuffleWriteMetricsReporter}

/**
 * Spark's exchange by the hash of keys, with [[RowPacker packed]] rows. It has the same rows in the
 * same partitions, and adaptive execution treats it as it treats Spark's own exchange.
 */
case class PackedExchangeExec(override val outputPartitioning: HashPartitioning, child: SparkPlan)
    extends ShuffleExchangeLike {

  override def nodeName: String = "PackedExchange"

  override def shuffleOrigin: ShuffleOrigin = ENSURE_REQUIREMENTS
  override def advisoryPartitionSize: Option[Long] = None

  override lazy val metrics: Map[String, SQLMetric] = RowShuffle.createMetrics(sparkContext) ++ Map(
    ShufflePacking.DataSize -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    "numPartitions" -> SQLMetrics.createMetric(sparkContext, "number of partitions"))

  @transient private lazy val input: RDD[InternalRow] = child.execute()

  @transient private lazy val dependency: ShuffleDependency[Int, InternalRow, InternalRow] = {
    val partitions = metrics("numPartitions")
    partitions.set(outputPartitioning.numPartitions)
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(partitions))
    val (partitioning, columns) = (outputPartitioning, child.output)
    val packing = ShufflePacking(partitioning.numPartitions, columns.size, metrics)
    val packed = input.mapPartitionsInternal(
      PackedExchangeExec.packed(_, partitioning, columns, packing))
    RowShuffle.dependency(packed, packing)
  }

  @transient override lazy val mapOutputStatisticsFuture: Future[MapOutputStatistics] =
    if (input.getNumPartitions == 0) Future.successful(null)
    else sparkContext.submitMapStage(dependency)

  override def numMappers: Int = dependency.rdd.getNumPartitions
  override def numPartitions: Int = dependency.partitioner.numPartitions
  override def shuffleId: Int = dependency.shuffleId

  override def runtimeStatistics: Statistics = {
    val rows = metrics(SQLShuffleWriteMetricsReporter.SHUFFLE_RECORDS_WRITTEN).value
    Statistics(metrics(ShufflePacking.DataSize).value, Some(rows))
  }

  override def getShuffleRDD(parts: Array[ShufflePartitionSpec]): RDD[InternalRow] =
    unpacked(new ShuffledRowRDD(dependency, metrics, parts))

  /** Made once, so that two nodes that read this exchange have the same RDD. */
  @transient private lazy val rows: RDD[InternalRow] =
    unpacked(new ShuffledRowRDD(dependency, metrics))

  override protected def doExecute(): RDD[InternalRow] = rows

  private def unpacked(chunks: RDD[InternalRow]): RDD[InternalRow] = {
    val types = output.map(_.dataType).toArray
    RowShuffle.unpacked(chunks, metrics)(RowUnpacker.unsafeRows(_, types))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackedExchangeExec =
    copy(child = newChild)
}

object PackedExchangeExec {

  private def packed(
      rows: Iterator[InternalRow],
      partitioning: HashPartitioning,
      columns: Seq[Attribute],
      packing: ShufflePacking): Iterator[Product2[Int, InternalRow]] = {
    def oneByOne: PackedChunks = {
      val addressOf = UnsafeProjection.create(Seq(partitioning.partitionIdExpression), columns)
      val sent = new AddressedRow
      val addressed = rows.map(row => sent.update(addressOf(row).getInt(0), row))
      new PackedAddresses(addressed, packing)
    }
    rows match {
      case batches: BatchedRows => HashedBatch.of(partitioning, columns)
          .fold(oneByOne)(new PackedBatches(batches, _, packing))
      case _ => oneByOne
    }
  }
}
