// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockColumn, DoubleColumn, IntColumn, LongColumn, ObjectColumn
}
import org.apache.spark.unsafe.types.UTF8String

/** Iterates over some rows of a block's columns. Each row is valid until the next one is read. */
private[streams] final class BlockRowIterator(columns: Array[BlockColumn], rows: Array[Int])
    extends Iterator[InternalRow] {
  private val row = new ColumnRow(columns)
  private var taken = 0

  override def hasNext: Boolean = taken < rows.length

  override def next(): InternalRow = {
    row.at = rows(taken)
    taken += 1
    row
  }
}

/** A view of row `at` of some columns. */
private[streams] final class ColumnRow(columns: Array[BlockColumn]) extends BaseGenericInternalRow {
  var at = 0

  override def numFields: Int = columns.length
  override def isNullAt(ordinal: Int): Boolean = columns(ordinal).nulls(at)
  private def int(ordinal: Int): Int = columns(ordinal).asInstanceOf[IntColumn].values(at)
  private def double(ordinal: Int): Double =
    columns(ordinal).asInstanceOf[DoubleColumn].values(at)
  override def getLong(ordinal: Int): Long = columns(ordinal).asInstanceOf[LongColumn].values(at)
  override def getInt(ordinal: Int): Int = int(ordinal)
  override def getShort(ordinal: Int): Short = int(ordinal).toShort
  override def getByte(ordinal: Int): Byte = int(ordinal).toByte
  override def getBoolean(ordinal: Int): Boolean = int(ordinal) != 0
  override def getFloat(ordinal: Int): Float = double(ordinal).toFloat
  override def getDouble(ordinal: Int): Double = double(ordinal)
  override def getUTF8String(ordinal: Int): UTF8String =
    columns(ordinal).asInstanceOf[ObjectColumn].values(at).asInstanceOf[UTF8String]

  override protected def genericGet(ordinal: Int): Any = columns(ordinal).boxed(at)

  override def setNullAt(ordinal: Int): Unit = readOnly()
  override def update(ordinal: Int, value: Any): Unit = readOnly()
  private def readOnly() = throw new UnsupportedOperationException("rows of a block are read only")
}
