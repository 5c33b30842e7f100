// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.types.DataType

/**
 * The columns that a stream operator reads and stores from the rows of one side.
 *
 * @param columns the columns of a packed row
 * @param keys    the columns that decide to which partition a row goes. Without keys, all rows are
 *                assigned as if they had one key
 * @param time    the TIMESTAMP column with the watermark of this side
 */
case class StreamSide(
    name: String,
    columns: Seq[Attribute],
    keys: Seq[Attribute],
    time: Attribute) {
  val types: Array[DataType] = columns.map(_.dataType).toArray
  val timeOrdinal: Int = ordinal(time)

  def ordinal(column: Attribute): Int = columns.indexWhere(_.exprId == column.exprId)
}

/**
 * The number of partitions for the rows of a key. More than one is for keys with so many rows that
 * one core is not enough. The virtual teams of Scale-OIJ (Section V-B) do this by reading each
 * other's memory. Here the rows of one side are spread over the partitions, and the rows of the
 * other side are copied to each of them.
 *
 * @param partitions the number of partitions; 0 for all
 * @param isSpread   true: each row goes to one of the partitions, by its time; false: each row is
 *                   copied to all of them
 */
case class Fanout(partitions: Int, isSpread: Boolean)

object Fanout {

  /** Each row goes to one partition, by its key. */
  val One: Fanout = Fanout(1, isSpread = true)
}
