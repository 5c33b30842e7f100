// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import java.util.HashMap

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.sql.types.DoubleType

/**
 * The numbers of keys, from 0 on, in the order in which the keys come first.
 *
 * @param keys the keys by number; new keys are added
 * @param memory counts the keys
 */
private[periods] final class KeyNumbers(keys: ArrayBuffer[UnsafeRow], memory: BlockMemory) {
  import KeyNumbers._

  private val numbers = new HashMap[UnsafeRow, Integer]
  private var usedBytes = 0L
  private var reservedBytes = 0L

  /** The number of a key. */
  def of(key: UnsafeRow): Int = {
    var number = numbers.get(key)
    if (number == null) {
      val own = key.copy()
      number = keys.size
      keys += own
      numbers.put(own, number)
      usedBytes += KeyBytes + own.getSizeInBytes
    }
    number
  }

  /** Makes room for more keys; false if memory for them is refused. */
  def hasRoom(): Boolean = usedBytes <= reservedBytes || {
    val isGranted = memory.tryReserve(ReservedBytes)
    if (isGranted) reservedBytes += ReservedBytes
    isGranted
  }

  /** Forgets which keys have numbers. The memory of the keys stays reserved. */
  def forget(): Unit = numbers.clear()

  /** Releases the memory of the keys, which are no longer needed. */
  def release(): Unit = {
    forget()
    memory.release(reservedBytes)
    usedBytes = 0
    reservedBytes = 0
  }
}

private object KeyNumbers {

  /** The bytes of a key in addition to its value: the objects, and its place in the table. */
  private val KeyBytes = 128L
  private val ReservedBytes = 1L << 20
}

/**
 * The columns of rows that are swept.
 *
 * @param input the columns of the rows
 * @param from the LONG at which a row becomes valid; `to` is the LONG at which it ends
 * @param numbers the numbers of a row in addition to its period: its weight, or the inputs of
 *   measures
 */
private[periods] case class PeriodColumns(
    input: Seq[Attribute],
    keys: Seq[Attribute],
    from: Attribute,
    to: Attribute,
    numbers: Seq[Expression]) {

  /** All numbers of a row: its start, its end, and the others. */
  def all: Seq[Expression] = Seq(from, to) ++ numbers

  /** The columns of rows that consist of their keys and numbers only. */
  def narrow: PeriodColumns = {
    val own = all.map(c => AttributeReference("number", c.dataType, nullable = false)())
    PeriodColumns(keys ++ own, keys, own(0), own(1), own.drop(2))
  }
}

/** Makes rows with the columns of [[PeriodColumns.narrow]]. A row may be reused for the next one. */
private[periods] final class NarrowRows(columns: PeriodColumns) {
  private val types = columns.all.map(_.dataType)
  private val areFractions = types.map(_ == DoubleType).toArray
  private val narrowed = UnsafeProjection.create(columns.keys ++ columns.all, columns.input)
  private val project = UnsafeProjection.create((columns.keys.map(_.dataType) ++ types).toArray)
  private val values = new SpecificInternalRow(types)
  private val joined = new JoinedRow

  def of(row: InternalRow): InternalRow = narrowed(row)

  /** The row of a key and its numbers, the bits of fractions among them. */
  def of(key: UnsafeRow, number: Int => Long): InternalRow = {
    var k = 0
    while (k < areFractions.length) {
      if (areFractions(k)) values.setDouble(k, java.lang.Double.longBitsToDouble(number(k)))
      else values.setLong(k, number(k))
      k += 1
    }
    project(joined(key, values))
  }
}

/**
 * Reads the keys and the numbers of one row after another.
 *
 * @param limits the section of time that the task processes; periods are clipped to it
 */
private[periods] final class KeyReader(columns: PeriodColumns, limits: (Long, Long)) {
  private val keysOf = UnsafeProjection.create(columns.keys, columns.input)
  private val numbersOf = UnsafeProjection.create(columns.all, columns.input)
  private val areFractions = columns.all.map(_.dataType == DoubleType).toArray
  private var numbers: UnsafeRow = _

  /** The keys of a row; the object may be reused for every row. */
  def keys(row: InternalRow): UnsafeRow = keysOf(row)

  /** Takes a row. [[number]] then gives its start, its end, and its other numbers. */
  def take(row: InternalRow): Unit = numbers = numbersOf(row)

  val number: Int => Long = {
    case 0 => math.max(numbers.getLong(0), limits._1)
    case 1 => math.min(numbers.getLong(1), limits._2)
    case k if areFractions(k) => java.lang.Double.doubleToRawLongBits(numbers.getDouble(k))
    case k => numbers.getLong(k)
  }
}
