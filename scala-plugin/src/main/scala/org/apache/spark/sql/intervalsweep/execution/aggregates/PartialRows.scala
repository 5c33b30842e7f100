// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/**
 * How the rows of a join become results if a left row may have several partial rows. Nearly all
 * left rows come once, with everything that the result has.
 */
trait PartialRows extends Serializable {

  /** The columns of the rows of the join, among them [[partialRowId]]. */
  def input: Seq[Attribute]

  /** The number of the left row that a partial row belongs to; -1 if the row is complete. */
  def partialRowId: Attribute

  /** The result columns of a row that is complete. */
  def ofOne: Seq[Expression]

  /** Starts to collect the partial rows of a task. */
  def open(): PartialRowMerger
}

/** Collects the partial rows of a task, and merges those of each left row. */
trait PartialRowMerger {
  def add(row: InternalRow): Unit

  /** The rows that came as partial rows. Call it after the last partial row. */
  def finish(): Iterator[InternalRow]
}

private[aggregates] object PartialRows {

  /** The partial rows that are kept before they are handed to a sorter of Spark's, which spills. */
  val RowsInMemory = 4096
  val BytesInMemory: Long = 4L << 20
}
