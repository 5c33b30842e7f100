// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.sql.intervalsweep.execution.packing.DistinctRows
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.unsafe.Platform

/**
 * The numbers of keys, from 0 on, in the order in which the keys come first.
 *
 * @param keys the keys by number; new keys are added
 * @param memory counts the keys
 */
private[periods] final class KeyNumbers(keys: DistinctRows, memory: BlockMemory) {
  private var reservedBytes = 0L

  /** The keys that were offered, one after another, and where each ends. */
  private var offeredWords = new Array[Long](KeyNumbers.Together)
  private val offeredEnds = new Array[Int](KeyNumbers.Together)
  private val hashes = new Array[Int](KeyNumbers.Together)
  private var offeredKey: UnsafeRow = _

  /** The number of keys that were offered and have no number yet. */
  var offered = 0

  /** The number of a key. Without columns, there is one key. */
  def of(key: UnsafeRow): Int =
    if (key.numFields == 0 && keys.size > 0) 0 else keys.findOrAdd(key)

  /** Takes a key, whose number [[numberOffered]] finds. Call that when [[isFull]]. */
  def offer(key: UnsafeRow): Unit = {
    if (offeredKey == null) offeredKey = new UnsafeRow(key.numFields)
    val (from, words) = (wordsOffered, key.getSizeInBytes / 8)
    if (from + words > offeredWords.length)
      offeredWords = Arrays.copyOf(offeredWords, math.max(from + words, 2 * offeredWords.length))
    key.writeToMemory(offeredWords, Platform.LONG_ARRAY_OFFSET + 8L * from)
    hashes(offered) = key.hashCode
    offeredEnds(offered) = from + words
    offered += 1
  }

  /** True if no more keys can be offered. */
  def isFull: Boolean = offered == KeyNumbers.Together || wordsOffered >= KeyNumbers.MostWords

  /** Writes the numbers of the keys that were offered into an array, from an index on. */
  def numberOffered(numbers: Array[Int], from: Int): Unit = if (offered > 0) {
    if (offeredKey.numFields == 0) Arrays.fill(numbers, from, from + offered, of(offeredKey))
    else lookUpOffered(numbers, from)
    offered = 0
  }

  private def lookUpOffered(numbers: Array[Int], from: Int): Unit = {
    keys.prefetch(hashes, offered)
    var start = 0
    var i = 0
    while (i < offered) {
      val end = offeredEnds(i)
      offeredKey.pointTo(
        offeredWords,
        Platform.LONG_ARRAY_OFFSET + 8L * start,
        8 * (end - start))
      numbers(from + i) = keys.findOrAdd(offeredKey, hashes(i))
      start = end
      i += 1
    }
  }

  private def wordsOffered: Int = if (offered == 0) 0 else offeredEnds(offered - 1)

  /**
   * Makes room for the keys that were offered and one more; false if memory for them is refused.
   */
  def hasRoom(): Boolean = {
    val wanted = keys.bytes(offered + 1, wordsOffered) - reservedBytes
    wanted <= 0 || memory.tryReserve(wanted) && {
      reservedBytes += wanted
      keys.makeRoom(offered + 1, wordsOffered)
      true
    }
  }

  /** Releases the memory of the keys, which are no longer needed. */
  def release(): Unit = {
    memory.release(reservedBytes)
    reservedBytes = 0
  }
}

private object KeyNumbers {

  /** The number of keys that are looked up together, unless they are long. */
  private val Together = 128
  private val MostWords = 1 << 14
}

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
