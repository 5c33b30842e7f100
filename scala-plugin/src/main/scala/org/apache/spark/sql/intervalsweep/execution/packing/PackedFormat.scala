// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** The byte layout of packed rows, which [[RowPacker]] describes. */
private[execution] object PackedFormat {

  /** Bytes of a column's header: the least value, and the number of bytes of each difference. */
  val ColumnHeader = 9

  /** Spare bytes at the end: the last difference, too, is read and written as eight bytes. */
  val Slack = 8

  def buffer(bytes: Array[Byte]): ByteBuffer =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  def putLong(bytes: Array[Byte], at: Int, value: Long): Unit =
    Platform.putLong(
      bytes,
      Platform.BYTE_ARRAY_OFFSET + at.toLong,
      if (RowBatch.isLittleEndian) value else java.lang.Long.reverseBytes(value))

  def getLong(bytes: Array[Byte], at: Int): Long = {
    val value = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + at.toLong)
    if (RowBatch.isLittleEndian) value else java.lang.Long.reverseBytes(value)
  }

  /** The number of words at the start of a row with `numFields` fields. */
  def words(numFields: Int): Int =
    UnsafeRow.calculateBitSetWidthInBytes(numFields) / 8 + numFields
}
