// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.intervalsweep.execution.packing.{DistinctRows, RowBatch}
import org.apache.spark.util.collection.OpenHashSet

/** Numbers the key groups from 0 on, in the order in which their keys are added. */
sealed trait KeyGroups {

  /** The number of a key's group; [[KeyGroups.NoGroup]] if the key has none. */
  def of(key: RowKeys): Int

  def size: Int
}

object KeyGroups {

  /** The group number of a row whose key has no group, and of every row of a join without keys. */
  val NoGroup: Int = -1

  def of(keys: Seq[Expression]): KeyGroups =
    if (RowKeys.isNumber(keys)) new NumberGroups else new ManyKeysGroups
}

/**
 * Groups of a single key that is a number. A group's number is stored at the key's position in a
 * hash set whose methods take a primitive LONG.
 */
final class NumberGroups extends KeyGroups {
  private val keys = new OpenHashSet[Long]
  private var numbers = new Array[Int](keys.capacity)

  override def of(key: RowKeys): Int = of(key.asInstanceOf[NumberKey].number)

  def of(number: Long): Int = {
    val at = keys.getPos(number)
    if (at == OpenHashSet.INVALID_POS) KeyGroups.NoGroup else numbers(at)
  }

  /** Writes the group numbers of `n` keys into `into`, from `at` on. New keys get new numbers. */
  def addAll(numbers: Array[Long], n: Int, into: Array[Int], at: Int): Unit = {
    var i = 0
    while (i < n) {
      val known = of(numbers(i))
      into(at + i) = if (known == KeyGroups.NoGroup) add(numbers(i)) else known
      i += 1
    }
  }

  private def add(number: Long): Int = {
    val (next, old) = (keys.size, numbers)
    val at = keys.addWithoutResize(number) & OpenHashSet.POSITION_MASK
    numbers(at) = next
    keys.rehashIfNeeded(
      number,
      capacity => numbers = new Array[Int](capacity),
      (from, to) => numbers(to) = old(from))
    next
  }

  override def size: Int = keys.size
}

/** Groups of several keys, or of a key that is not a number. */
final class ManyKeysGroups extends KeyGroups {
  private val rows = new DistinctRows

  override def of(key: RowKeys): Int = rows.find(key.asInstanceOf[ManyKeys].row)

  /** Gives a new key the next number. */
  def add(key: RowKeys): Unit = rows.findOrAdd(key.asInstanceOf[ManyKeys].row)

  /** Adds the keys of others. Returns the number that each group of `others` has here. */
  def addAll(others: ManyKeysGroups): Array[Int] =
    Array.tabulate(others.size)(number => rows.findOrAdd(others.rows(number)))

  override def size: Int = rows.size
}

/**
 * Reads the key groups of rows that come one by one, or many in a batch.
 *
 * @param keys one or more keys, over the columns `input`
 * @param isKept true if the rows of a batch that have no group are put into an extra group, in
 *   which nothing matches them
 */
final class GroupReader(
    groups: KeyGroups,
    keys: Seq[Expression],
    input: Seq[Attribute],
    isKept: Boolean) {
  private val key = RowKeys.of(keys, input)
  private val column: EndpointColumn = key match {
    case number: NumberKey => number.column.orNull
    case _ => null
  }

  /** The number of a row's group; [[KeyGroups.NoGroup]] if the row has none. */
  def of(row: InternalRow): Int = {
    key.read(row)
    if (key.anyNull) KeyGroups.NoGroup else groups.of(key)
  }

  /** True if the groups of a whole batch can be read at once. */
  def takes(batch: RowBatch): Boolean = column != null && column.takes(batch)

  /** The group numbers of `n` rows of such a batch, from row `first` on. */
  def of(batch: RowBatch, first: Int, n: Int): Array[Int] = {
    val (numbers, found) = (new Array[Long](n), new Array[Int](n))
    column.read(batch, first, n, numbers, 0)
    val known = groups.asInstanceOf[NumberGroups]
    val otherwise = if (isKept) groups.size else KeyGroups.NoGroup
    var i = 0
    while (i < n) {
      // The rows of a key are often stored together.
      if (i > 0 && numbers(i) == numbers(i - 1)) found(i) = found(i - 1)
      else {
        val group = known.of(numbers(i))
        found(i) = if (group == KeyGroups.NoGroup) otherwise else group
      }
      i += 1
    }
    found
  }
}
