// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.{
  PartitionIdPassthrough, ShuffleDependency, SparkContext, SparkEnv, TaskContext
}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.execution.{ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.{
  SQLMetric, SQLShuffleReadMetricsReporter, SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.types.{BinaryType, DataType}
import org.apache.spark.util.MutablePair

/**
 * Spark's own shuffle, run within a node. It moves rows that [[RowPacker]] has packed, so its
 * serializer and streams are called once for some thousand rows.
 */
object RowShuffle {

  /**
   * The bytes that a task packs for all partitions together, and the most and least for one
   * partition.
   */
  private val PackedBytes = 16L << 20
  private val MostBytes = 256L << 10
  private val LeastBytes = 4L << 10

  /** The metric that counts the bytes of the rows before they are packed, if a node has it. */
  val DataSize = "dataSize"

  private[execution] val packedColumns = Array[DataType](BinaryType)

  /**
   * @param addressed the rows; the objects may be reused for every row
   * @param metrics metrics of the node, which count reads and writes in rows
   */
  def apply(
      addressed: RDD[AddressedRow],
      partitions: Int,
      types: Array[DataType],
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    val chunks =
      new ShuffledRowRDD(dependency(addressed, partitions, types.length, metrics), metrics)
    unpacked(chunks, metrics)(RowUnpacker.unpack(_, types))
  }

  /** The shuffle of packed rows. Each of its rows has one chunk. */
  def dependency(
      addressed: RDD[AddressedRow],
      partitions: Int,
      numFields: Int,
      metrics: Map[String, SQLMetric]): ShuffleDependency[Int, InternalRow, InternalRow] = {
    val written = metrics(SQLShuffleWriteMetricsReporter.SHUFFLE_RECORDS_WRITTEN)
    val packed = addressed.mapPartitionsInternal[Product2[Int, InternalRow]](
      new PackedAddresses(_, partitions, numFields, written, metrics.get(DataSize)))
    new ShuffleDependency[Int, InternalRow, InternalRow](
      if (keepsRows) packed.mapPartitionsInternal(_.map(copied)) else packed,
      new PartitionIdPassthrough(partitions),
      new UnsafeRowSerializer(packedColumns.length),
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(metrics))
  }

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

  /** The bytes that are packed for one partition, given the number of partitions. */
  def bytesFor(partitions: Int): Long =
    math.max(LeastBytes, math.min(MostBytes, PackedBytes / partitions))

  def createMetrics(sc: SparkContext): Map[String, SQLMetric] =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sc) ++
      SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sc)
}

/**
 * A row, and the number of the partition that it goes to. Spark's pairs would make an object of each
 * number.
 */
final class AddressedRow(var partition: Int = 0, var row: InternalRow = null) {
  def update(partition: Int, row: InternalRow): AddressedRow = {
    this.partition = partition
    this.row = row
    this
  }
}

/** Packed rows with the partition that they go to. The pair object is reused. */
private final class PackedAddresses(
    addressed: Iterator[AddressedRow],
    partitions: Int,
    numFields: Int,
    written: SQLMetric,
    dataSize: Option[SQLMetric])
    extends Iterator[Product2[Int, InternalRow]] {
  private val packers = new Array[RowPacker](partitions)
  private val mostBytes = RowShuffle.bytesFor(partitions)
  private val context = TaskContext.get()
  private val counted = context.taskMetrics().shuffleWriteMetrics
  private val project = UnsafeProjection.create(RowShuffle.packedColumns)
  private val packed = new GenericInternalRow(1)
  private val pair = new MutablePair[Int, InternalRow]

  /** The partition whose rows are returned next; -1 if it is not known yet. */
  private var full = -1
  private var rest = 0

  override def hasNext: Boolean = {
    while (full < 0 && addressed.hasNext) add(addressed.next())
    while (full < 0 && rest < partitions) {
      if (packers(rest) != null && packers(rest).numRows > 0) full = rest
      rest += 1
    }
    full >= 0
  }

  override def next(): Product2[Int, InternalRow] = {
    if (!hasNext) throw new NoSuchElementException
    context.killTaskIfInterrupted()
    val packer = packers(full)
    written.add(packer.numRows - 1L)
    counted.incRecordsWritten(packer.numRows - 1L)
    dataSize.foreach(_.add(packer.rowBytes))
    packed.update(0, packer.take())
    pair.update(full, project(packed))
    full = -1
    pair
  }

  private def add(addressed: AddressedRow): Unit = {
    val to = addressed.partition
    if (packers(to) == null) packers(to) = new RowPacker(numFields)
    val packer = packers(to)
    packer.add(addressed.row)
    if (packer.size >= mostBytes) full = to
  }
}
