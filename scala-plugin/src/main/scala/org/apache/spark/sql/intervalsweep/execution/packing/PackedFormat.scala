// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** The bytes of packed rows, as [[RowPacker]] describes them. */
private[packing] object PackedFormat {

  /** The least value, and how many bytes the differences have. */
  val ColumnHeader = 9

  /** The last difference is read and written with eight bytes, too. */
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

  /** The words that a row of so many fields begins with. */
  def words(numFields: Int): Int =
    UnsafeRow.calculateBitSetWidthInBytes(numFields) / 8 + numFields
}
