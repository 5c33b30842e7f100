// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  And, BoundReference, Expression, GenericInternalRow, JoinedRow, Literal, Predicate,
  UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.execution.UnsafeFixedWidthAggregationMap
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.execution.packing.{RowPacker, RowUnpacker}
import org.apache.spark.sql.intervalsweep.temporal.nodes.MeasureKind
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/**
 * Writes the rows of a slice for its readers.
 *
 * @param end   the end of the slice for the query
 * @param whole the streams whose rows are also read as they are
 * @param count counts the rows that are combined
 */
private[histories] final class SliceWriter(
    slice: Slice,
    end: Long,
    combinations: Seq[Combination],
    whole: Set[Int],
    count: SQLMetric)
    extends Serializable {

  /** Chunks of packed rows, each with the number of its reader. */
  def written(chunks: Iterator[Array[Byte]]): Iterator[(Int, Array[Byte])] =
    if (combinations.isEmpty) chunks.map((SliceWriter.Whole, _))
    else {
      val combiners = combinations.map(new RowCombiner(_, slice, end, count))
      val all = new RowPacker(ValidRow.types.length)
      val packers = combiners.zipWithIndex.map { case (combiner, reader) =>
        reader -> combiner.packer
      } :+ (SliceWriter.Whole -> all)
      def taken(size: Long): Iterator[(Int, Array[Byte])] = packers.iterator.collect {
        case (reader, packer) if packer.size > size => (reader, packer.take())
      }
      val some = chunks.flatMap { chunk =>
        for (row <- RowUnpacker.unsafeRows(chunk, ValidRow.types.length)) {
          if (whole(row.getInt(ValidRow.Input))) all.add(row)
          combiners.foreach(_.add(row))
        }
        taken(SliceWriter.Size)
      }
      def last: Iterator[(Int, Array[Byte])] = {
        combiners.foreach(_.finish())
        taken(0)
      }
      some ++ last
    }
}

private[histories] object SliceWriter {

  /** The reader of rows that are not combined; combinations are numbered from 0. */
  val Whole = -1

  /** The size of a chunk, in bytes. */
  val Size: Long = 1L << 20
}

/** Combines rows in memory. Where memory is short, or most keys differ, rows stay as they are. */
private final class RowCombiner(
    combination: Combination,
    slice: Slice,
    end: Long,
    count: SQLMetric) {
  import combination.{columns, filters, keys, measures, results, types}

  /** The rows that are ready. */
  val packer = new RowPacker(types.size)

  private val row = new PeriodRow(columns.size - 2)
  private val passes =
    Predicate.create(filters.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral), columns)
  passes.initialize(TaskContext.getPartitionId())
  private val project = UnsafeProjection.create(results, columns)
  project.initialize(TaskContext.getPartitionId())

  private val (from, to, first) = (keys.size, keys.size + 1, keys.size + 2)

  /** A row has a key, also if the sweep has none. */
  private val keyColumns: Seq[Expression] =
    if (keys.isEmpty) Seq(Literal(0))
    else keys.zipWithIndex.map { case (key, i) =>
      BoundReference(i, key.dataType, key.nullable)
    }
  private val keyOf = UnsafeProjection.create(keyColumns)

  private val kinds = measures.map(_._1).toArray
  private val neutral: Seq[Any] = kinds.toSeq.map {
    case MeasureKind.Least => Long.MaxValue
    case MeasureKind.Greatest => Long.MinValue
    case MeasureKind.FloatSum => 0.0
    case _ => 0L
  }

  private lazy val combined = new UnsafeFixedWidthAggregationMap(
    InternalRow.fromSeq(neutral :+ 0L),
    StructType(kinds.toSeq.map(kind => StructField(kind.name, kind.dataType)) :+
      StructField("rows", LongType)),
    StructType(keyColumns.map(key => StructField("key", key.dataType, key.nullable))),
    TaskContext.get(),
    RowCombiner.Capacity,
    TaskContext.get().taskMemoryManager().pageSizeBytes)
  private var rows = 0L
  private var groups = 0L

  def add(stored: UnsafeRow): Unit = if (ValidRow.isOf(stored, combination.input, slice)) {
    val whole = row.of(stored)
    if (passes.eval(whole)) {
      val result = project(whole)
      if (!isCombined(result)) packer.add(result)
    }
  }

  private def isCombined(result: UnsafeRow): Boolean =
    result.getLong(from) <= slice.before && result.getLong(to) >= end && pays && {
      val sums = combined.getAggregationBufferFromUnsafeRow(keyOf(result))
      if (sums != null) combine(sums, result)
      sums != null
    }

  private def pays: Boolean = rows < RowCombiner.LeastRows || groups < rows / 2

  private def combine(sums: UnsafeRow, result: UnsafeRow): Unit = {
    var i = 0
    while (i < kinds.length) {
      kinds(i) match {
        case MeasureKind.FloatSum =>
          sums.setDouble(i, sums.getDouble(i) + result.getDouble(first + i))
        case MeasureKind.Least =>
          sums.setLong(i, math.min(sums.getLong(i), result.getLong(first + i)))
        case MeasureKind.Greatest =>
          sums.setLong(i, math.max(sums.getLong(i), result.getLong(first + i)))
        case _ => sums.setLong(i, sums.getLong(i) + result.getLong(first + i))
      }
      i += 1
    }
    if (sums.getLong(kinds.length) == 0) groups += 1
    sums.setLong(kinds.length, 1)
    rows += 1
  }

  /** Packs the combined rows. */
  def finish(): Unit = if (rows > 0) {
    count.add(rows)
    val whole = new GenericInternalRow(Array[Any](slice.before, end))
    val numKeys = keyColumns.size
    val period = Seq(numKeys, numKeys + 1).map(BoundReference(_, LongType, nullable = false))
    val sums = kinds.toSeq.zipWithIndex.map { case (kind, i) =>
      BoundReference(numKeys + 2 + i, kind.dataType, nullable = false)
    }
    val result = UnsafeProjection.create(keyColumns.take(keys.size) ++ period ++ sums)
    val (left, both) = (new JoinedRow, new JoinedRow)
    val found = combined.iterator()
    while (found.next())
      packer.add(result(both(left(found.getKey, whole), found.getValue)))
    combined.free()
  }
}

private object RowCombiner {

  /** The first capacity of the map, in keys. */
  val Capacity = 1024

  /** The number of rows after which a combiner stops if most of them have different keys. */
  val LeastRows = 10000
}
