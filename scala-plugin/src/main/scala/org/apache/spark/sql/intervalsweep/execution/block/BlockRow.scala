// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow
import org.apache.spark.unsafe.types.UTF8String

/**
 * A row of a block, as Catalyst reads rows. If the position is -1, the row is absent, and all its
 * columns are NULL.
 *
 * @param numFields the number of fields; the block may have further columns
 */
final class BlockRow(override val numFields: Int) extends BaseGenericInternalRow {
  var columns: Array[BlockColumn] = _
  var position = 0

  override def isNullAt(ordinal: Int): Boolean = position < 0 || columns(ordinal).nulls(position)
  private def int(ordinal: Int): Int = columns(ordinal).asInstanceOf[IntColumn].values(position)
  private def double(ordinal: Int): Double =
    columns(ordinal).asInstanceOf[DoubleColumn].values(position)
  override def getLong(ordinal: Int): Long =
    columns(ordinal).asInstanceOf[LongColumn].values(position)
  override def getInt(ordinal: Int): Int = int(ordinal)
  override def getShort(ordinal: Int): Short = int(ordinal).toShort
  override def getByte(ordinal: Int): Byte = int(ordinal).toByte
  override def getBoolean(ordinal: Int): Boolean = int(ordinal) != 0
  override def getFloat(ordinal: Int): Float = double(ordinal).toFloat
  override def getDouble(ordinal: Int): Double = double(ordinal)
  override def getUTF8String(ordinal: Int): UTF8String =
    columns(ordinal).asInstanceOf[ObjectColumn].values(position).asInstanceOf[UTF8String]

  override protected def genericGet(ordinal: Int): Any =
    if (position < 0) null else columns(ordinal).boxed(position)

  override def setNullAt(ordinal: Int): Unit = readOnly()
  override def update(ordinal: Int, value: Any): Unit = readOnly()
  private def readOnly() = throw new UnsupportedOperationException("rows of a block are read only")
}

object BlockRow {
  def apply(columns: Array[BlockColumn]): BlockRow = {
    val row = new BlockRow(columns.length)
    row.columns = columns
    row
  }
}
