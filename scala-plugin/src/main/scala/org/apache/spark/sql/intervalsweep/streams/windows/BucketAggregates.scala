// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{RunKind, RunValue}
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, BlockLayout, DoubleColumn, LongColumn, RowBlock, TaskMemory
}
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.streams.partitioning.StreamSide
import org.apache.spark.sql.types.DataType

/**
 * The results of the probe rows of a time bucket, by key. They are read instead of the rows if all
 * windows contain the whole bucket:
 * {{{
 *   windows of the emitted base rows    [------------------------------]
 *                                          [------------------------------]
 *   buckets of the probe rows        rows   sums   sums   sums   sums   rows
 * }}}
 * So a micro-batch reads only the rows at both ends of its windows, however long the windows are.
 * Scale-OIJ (Section V-C) adds the rows that enter a window to a running value and subtracts the
 * rows that leave it. Sums of buckets need no inverse function, and no order among the base rows of
 * a key.
 */
private[streams] final class BucketAggregates(
    val results: Seq[WindowResult],
    probe: StreamSide,
    values: WindowResults) {
  private val columns =
    probe.keys ++ results.map(r => AttributeReference(r.name, r.dataType)())
  private val types: Array[DataType] = columns.map(_.dataType).toArray
  private val keyOrdinals = probe.keys.map(probe.ordinal)

  /** Whether all results can be combined from the results of parts of the rows. */
  val isPossible: Boolean = values.areOfRuns

  /** Describes the stored results, so that results of another query are not used. */
  private val header: Array[Byte] = {
    val text = results.map { r =>
      s"${r.kind.mkString}(${r.column.fold("")(c => probe.ordinal(c).toString)}) ${r.dataType.sql}"
    }.mkString(", ").getBytes(UTF_8)
    ByteBuffer.allocate(4 + text.length).putInt(text.length).put(text).array()
  }

  /** An empty block for sums, which takes only keys that `others` has. */
  def block(memory: TaskMemory, others: KeyedBlock): KeyedBlock = {
    val layout = BlockLayout(columns, columns.drop(probe.keys.size), Nil, sortEndpoint = 0)
    new KeyedBlock(new RowBlock(layout, memory), probe.keys, columns, Some(others))
  }

  /**
   * The sums of all rows of a bucket, to be stored. Only a header if there are too few rows per
   * key, or if sums may be too large.
   */
  def of(rows: KeyedBlock): Array[Byte] = {
    rows.block.sort()
    val groups = WindowRuns.ofGroups(rows.block)
    val pays = groups.first.length * BucketAggregates.LeastRows <= rows.block.numRows
    val isSmall = values.fit(rows.block, groups, BucketAggregates.LargestSum)
    if (pays && isSmall) header ++ packed(rows.block, groups) else header
  }

  private def packed(rows: RowBlock, groups: WindowRuns): Array[Byte] = {
    val found = values.ofRuns(rows, groups)
    val keys = keyOrdinals.map { k =>
      val column = BlockColumn(rows.columns(k).dataType)
      column.grow(groups.first.length)
      groups.first.indices.foreach(g => column.copy(g, rows.columns(k), groups.first(g)))
      column
    }
    val packer = new RowPacker(types.length)
    val toUnsafe = UnsafeProjection.create(types)
    new BlockRowIterator((keys ++ found).toArray, groups.first.indices.toArray)
      .foreach(row => packer.add(toUnsafe(row)))
    packer.take()
  }

  /** Whether stored bytes have these results, and not those of another query. */
  def areIn(stored: Array[Byte]): Boolean = stored.startsWith(header)

  /** The stored keys and results, if there are any. */
  def rows(stored: Array[Byte]): Option[Iterator[InternalRow]] = {
    val chunk = stored.drop(header.length)
    Option.when(chunk.nonEmpty)(RowUnpacker.unpack(Iterator(chunk), types))
  }
}

private[streams] object BucketAggregates {

  /** The smallest number of rows per key for which sums are stored. */
  private val LeastRows = 4

  /** The largest number of buckets that are added up, so that integer sums stay within 64 bits. */
  private val MostBuckets = 1024
  private val LargestSum: Double = RunValue.MostLong / (4 * MostBuckets)

  /**
   * Adds up the sums of some buckets.
   *
   * @param base the base rows; sums of other keys are skipped
   */
  final class Totals(sums: BucketAggregates, base: KeyedBlock, memory: TaskMemory) {
    // Lazy: most calls do not need it, and real-time mode has one call per row.
    private lazy val added = sums.block(memory, base)
    private var buckets = 0

    /** Whether another bucket may be added. */
    def hasRoom: Boolean = buckets < MostBuckets

    /** Adds the keys and results of a bucket. */
    def add(rows: Iterator[InternalRow]): Unit = {
      buckets += 1
      rows.foreach(row => if (added.read(row)) added.append(row))
    }

    /** Adds the totals of each base row's key to the results of its other probe rows. */
    def addTo(columns: Array[BlockColumn]): Unit = {
      val ofGroups = sums.results.indices.map(k => byGroup(k)).toArray
      val groups = base.block.groups
      for (k <- columns.indices) {
        val combine = new Combine(sums.results(k).kind.get, columns(k))
        var i = 0
        while (i < base.block.numRows) {
          combine(i, ofGroups(k), if (groups == null) 0 else groups(i))
          i += 1
        }
      }
    }

    private def byGroup(k: Int): BlockColumn = {
      val column = BlockColumn(sums.results(k).dataType)
      column.grow(base.numGroups)
      (0 until base.numGroups).foreach(column.setNull)
      val combine = new Combine(sums.results(k).kind.get, column)
      val groups = added.block.groups
      for (i <- 0 until added.block.numRows)
        combine(if (groups == null) 0 else groups(i), added.block.columns(k), i)
      column
    }
  }

  /** Combines a result in a column with the result of other rows. NULL is the result of no rows. */
  private final class Combine(kind: RunKind, column: BlockColumn) {
    private val two = BlockColumn(column.dataType)
    two.grow(2)

    def apply(i: Int, others: BlockColumn, j: Int): Unit =
      if (!others.nulls(j)) {
        if (column.nulls(i) || isBetter(i, others, j)) column.copy(i, others, j)
        else if (isSum) add(i, others, j)
      }

    private val isSum: Boolean = kind match {
      case RunKind.Least | RunKind.Greatest => false
      case _ => true
    }

    private def isBetter(i: Int, others: BlockColumn, j: Int): Boolean = !isSum && {
      two.copy(0, column, i)
      two.copy(1, others, j)
      if (kind == RunKind.Least) two.compare(1, 0) < 0 else two.compare(1, 0) > 0
    }

    private def add(i: Int, others: BlockColumn, j: Int): Unit = (column, others) match {
      case (sum: LongColumn, more: LongColumn) => sum.values(i) += more.values(j)
      case (sum: DoubleColumn, more: DoubleColumn) => sum.values(i) += more.values(j)
      case _ => throw new IllegalStateException(s"no sum of ${column.dataType.sql}")
    }
  }
}
