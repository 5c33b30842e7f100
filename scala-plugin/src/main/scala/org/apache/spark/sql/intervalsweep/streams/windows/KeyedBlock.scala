// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.intervalsweep.execution.block.{
  KeyGroups, ManyKeysGroups, NumberGroups, RowBlock, RowKeys
}

/**
 * A block whose rows are grouped by key.
 *
 * @param others the block whose groups this block uses; rows of keys without a group there are left
 *               out. None: each key makes a group
 */
private[streams] final class KeyedBlock(
    val block: RowBlock,
    keys: Seq[Attribute],
    input: Seq[Attribute],
    others: Option[KeyedBlock]) {
  private val key = if (keys.isEmpty) null else RowKeys.of(keys, input)
  private val groups: KeyGroups =
    others.fold(if (key == null) null else KeyGroups.of(keys))(_.groups)
  private val (number, at) = (new Array[Long](1), new Array[Int](1))
  if (key != null) block.grouped()

  /** The number of groups. Some groups may have no rows. */
  def numGroups: Int = if (key == null) 1 else groups.size

  /** Reads the keys of a row; returns whether none of them is NULL. */
  def read(row: InternalRow): Boolean = key == null || { key.read(row); !key.anyNull }

  /** The group of the row that was read, or `NoGroup`. Without keys, all rows are in group 0. */
  def group: Int = if (key == null) 0 else groups.of(key)

  /** Adds the row whose keys were read. */
  def append(row: InternalRow): Unit =
    if (key == null) block.append(row, KeyGroups.NoGroup)
    else {
      val known = group
      val own = if (known == KeyGroups.NoGroup && others.isEmpty) add() else known
      if (own != KeyGroups.NoGroup) block.append(row, own)
    }

  private def add(): Int = groups match {
    case many: ManyKeysGroups =>
      many.add(key)
      many.size - 1
    case numbers: NumberGroups =>
      number(0) = RowKeys.number(key)
      numbers.addAll(number, 1, at, 0)
      at(0)
  }
}
