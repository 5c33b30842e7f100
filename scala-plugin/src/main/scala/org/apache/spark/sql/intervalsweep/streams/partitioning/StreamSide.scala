// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.types.DataType

/**
 * What a stream operator reads and keeps of the rows of one side.
 *
 * @param columns of a row, as it is packed
 * @param keys    the columns that decide to which partition a row goes; with none, all go to one
 * @param time    the TIMESTAMP column that the side's watermark is on
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
 * The rows of a key go to several partitions, where some keys have so many that one core is not enough,
 * as to the virtual teams of Scale-OIJ (Section V-B), which read each other's memory. Here rows of
 * one side are spread over the partitions, and those of the other one are in each.
 *
 * @param partitions    how many; 0 for all that there are
 * @param isSpread whether rows are spread over them, by their time; otherwise they are copied
 */
case class Fanout(partitions: Int, isSpread: Boolean)

object Fanout {

  /** Each row goes to one partition, by its key. */
  val One: Fanout = Fanout(1, isSpread = true)
}
