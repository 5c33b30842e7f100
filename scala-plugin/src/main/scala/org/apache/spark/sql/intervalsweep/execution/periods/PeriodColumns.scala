// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, LongType}

/**
 * The columns that a sweep reads.
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

  /** Where expressions are in a row of the input; None if one of them must be computed. */
  def ordinals(wanted: Seq[Expression]): Option[Array[Int]] = {
    val found = wanted.map(e => input.indexWhere(_.semanticEquals(e)))
    Option.unless(found.contains(-1))(found.toArray)
  }

  /** The keys, and where [[all]] numbers are, if both can be taken from the columns of a batch. */
  def words: Option[(KeyWords, Array[Int])] =
    for {
      fields <- ordinals(keys)
      words <- KeyWords.of(fields, keys.map(_.dataType))
      numbers <- ordinals(all)
      if all.forall(n => n.dataType == LongType || n.dataType == DoubleType)
    } yield (words, numbers)

  /** Makes rows of [[all]]. A row may be reused for the next one. */
  def numbersOnly: InternalRow => InternalRow =
    if (input == all) identity else UnsafeProjection.create(all, input)

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
  private lazy val narrowed =
    UnsafeProjection.create(columns.keys ++ columns.all, columns.input)
  private lazy val project =
    UnsafeProjection.create((columns.keys.map(_.dataType) ++ types).toArray)
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
  private val areFractions = columns.all.map(_.dataType == DoubleType).toArray

  /** Where the numbers are in a row; None if they must be computed. */
  private val ordinals = columns.ordinals(columns.all)
  private val numbersOf: InternalRow => InternalRow =
    if (ordinals.isDefined) identity else UnsafeProjection.create(columns.all, columns.input)
  private val places = ordinals.getOrElse(columns.all.indices.toArray)
  private var numbers: InternalRow = _

  /** The keys of a row; the object may be reused for every row. */
  def keys(row: InternalRow): UnsafeRow = keysOf(row)

  /** Takes a row. [[number]] then gives its start, its end, and its other numbers. */
  def take(row: InternalRow): Unit = numbers = numbersOf(row)

  val number: Int => Long = k => {
    val number =
      if (areFractions(k)) java.lang.Double.doubleToRawLongBits(numbers.getDouble(places(k)))
      else numbers.getLong(places(k))
    if (k == 0) math.max(number, limits._1) else if (k == 1) math.min(number, limits._2) else number
  }
}
