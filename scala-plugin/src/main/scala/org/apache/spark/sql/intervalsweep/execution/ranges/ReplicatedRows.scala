// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import org.apache.spark.HashPartitioner
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending, Attribute, AttributeReference, BoundReference, SortOrder,
  UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen.{GenerateUnsafeRowJoiner, UnsafeRowWriter}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.execution.block.{KeyGroups, RowBlock, UnsweptRows}
import org.apache.spark.sql.intervalsweep.execution.chunks.JoinChunks
import org.apache.spark.sql.intervalsweep.execution.packing.{AddressedRow, RowShuffle, RowSorter}
import org.apache.spark.sql.types.{BooleanType, IntegerType, LongType}

/**
 * Rows of a join by ranges that are in several ranges. Whether such a row has a match is known only
 * after all these ranges were asked.
 *
 * {{{
 *   ranges       0      |      1      |     2
 *   row 7      [--------------------]             copies 2: no match in 0, a match in 1
 *   row 8                    [------------]       copies 2: no match in either
 *
 *   answers of 0:  (7, no)                        brought together by number, sorted:
 *   answers of 1:  (7, yes) (8, no)               7 has a match, 8 has none
 *   answers of 2:  (8, no)
 * }}}
 *
 * The ranges are asked in a second pass, with only these rows of one side, and without making
 * pairs. Then only these rows are shuffled again. Most rows are in one range, and are not shuffled
 * again.
 */
object ReplicatedRows {

  /** The number of a row, unique among the rows of its side. */
  def number(): Attribute = AttributeReference("number", LongType, nullable = false)()

  /** The number of ranges that a row is in. */
  def copies(): Attribute = AttributeReference("copies", IntegerType, nullable = false)()

  /** True if a row has a match. */
  def matched(): Attribute = AttributeReference("matched", BooleanType, nullable = false)()

  def columnsAdded(): Seq[Attribute] = Seq(number(), copies())

  /**
   * A function that adds number and copies to rows with these columns. It reuses the result object.
   */
  def numbered(columns: Seq[Attribute]): (InternalRow, Long, Int) => UnsafeRow = {
    val project = UnsafeProjection.create(columns, columns)
    val added = columnsAdded()
    val joiner = GenerateUnsafeRowJoiner.create(
      DataTypeUtils.fromAttributes(columns),
      DataTypeUtils.fromAttributes(added))
    val writer = new UnsafeRowWriter(added.size)
    (row, number, copies) => {
      writer.reset()
      writer.write(0, number)
      writer.write(1, copies)
      val unsafe = row match {
        case row: UnsafeRow => row
        case _ => project(row)
      }
      joiner.join(unsafe, writer.getRow)
    }
  }

  /** The first number of a partition's rows. */
  def firstNumber(partition: Int): Long = partition.toLong << 33

  /**
   * Brings the answers of the ranges together.
   *
   * @param answers rows whose last two columns are [[number]] and [[matched]]
   * @return one row for each number; it has a match if it has one in any range
   */
  def decide(
      answers: RDD[InternalRow],
      columns: Seq[Attribute],
      partitions: Int,
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    val numberAt = columns.size - 2
    val byNumber = new HashPartitioner(partitions)
    val addressed = answers.mapPartitionsInternal[AddressedRow] { rows =>
      val sent = new AddressedRow
      rows.map(row => sent.update(byNumber.getPartition(row.getLong(numberAt)), row))
    }
    val order = SortOrder(BoundReference(numberAt, LongType, nullable = false), Ascending)
    val sorter = RowSorter(DataTypeUtils.fromAttributes(columns), order, metrics)
    val types = columns.map(_.dataType).toArray
    RowShuffle(addressed, partitions, types, metrics).mapPartitionsInternal { rows =>
      val project = UnsafeProjection.create(types)
      merge(sorter.sort(rows.map(project(_))), numberAt)
    }
  }

  /** Merges the rows of each number, which come one after another. */
  private def merge(rows: Iterator[InternalRow], numberAt: Int): Iterator[InternalRow] = {
    val sorted = rows.buffered
    new Iterator[InternalRow] {
      override def hasNext: Boolean = sorted.hasNext
      override def next(): InternalRow = {
        val row = sorted.next().copy()
        val number = row.getLong(numberAt)
        var matched = row.getBoolean(numberAt + 1)
        while (sorted.hasNext && sorted.head.getLong(numberAt) == number)
          matched |= sorted.next().getBoolean(numberAt + 1)
        row.setBoolean(numberAt + 1, matched)
        row
      }
    }
  }
}

/**
 * Rows of one side for which it is known whether they have a match, in the place of a task's input.
 *
 * @param rows their last column is true if they have a match
 */
final class DecidedRows(val side: Side, val rows: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = rows.hasNext
  override def next(): InternalRow = throw new UnsupportedOperationException
}

/** The chunks of a task that gets [[DecidedRows]]. They have no rows except leftovers. */
final class DecidedChunks(
    input: DecidedRows,
    override val build: RowBlock,
    override val probe: RowBlock,
    decided: RowBlock,
    batchRows: Int)
    extends JoinChunks {
  private val matchedAt = decided.layout.input.size - 1
  override val leftovers: UnsweptRows = new UnsweptRows(Map(input.side -> decided), batchRows)
  override def buildChanged: Boolean = false
  override def buildEnds: Boolean = false
  override def token: String = ""

  override def next(): Boolean = {
    leftovers.clear()
    while (!leftovers.isFull && input.rows.hasNext) {
      val row = input.rows.next()
      if (row.getBoolean(matchedAt)) decided.matched.set(decided.numRows)
      decided.append(row, KeyGroups.NoGroup)
    }
    !leftovers.isEmpty
  }
}
