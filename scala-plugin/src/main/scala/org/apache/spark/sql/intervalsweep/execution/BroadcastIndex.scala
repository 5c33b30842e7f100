package org.apache.spark.sql.intervalsweep.execution

import java.util.concurrent.ConcurrentHashMap
import java.util.{Collections, HashMap => JHashMap, Map => JMap, WeakHashMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, UnsafeProjection, UnsafeRow
}

/**
 * A broadcast side in columns, sorted by (group, sort endpoint), and the numbers of its key groups.
 * It is made once in an executor and shared by the tasks of a join; read only.
 */
final class BroadcastIndex(val block: RowBlock, groups: JMap[UnsafeRow, Integer]) {

  /** The group of a key; [[BroadcastIndex.NoGroup]] if no row has it. */
  def group(key: UnsafeRow): Int = {
    val number = groups.get(key)
    if (number == null) BroadcastIndex.NoGroup else number
  }
}

object BroadcastIndex {
  val NoGroup: Int = -1

  /** By the array that was broadcast, which Spark drops with the broadcast, and by the join. */
  private val cache: JMap[AnyRef, ConcurrentHashMap[String, BroadcastIndex]] =
    Collections.synchronizedMap(new WeakHashMap)

  /** The index of some packed rows for the join called `join`: that of an earlier task, or a new one. */
  def of(
      rows: Array[InternalRow],
      join: String,
      layout: BlockLayout,
      keys: Seq[Expression],
      timer: SortTimer): BroadcastIndex =
    cache
      .computeIfAbsent(rows, _ => new ConcurrentHashMap)
      .computeIfAbsent(join, _ => build(rows, layout, keys, timer))

  private def build(
      rows: Array[InternalRow],
      layout: BlockLayout,
      keys: Seq[Expression],
      timer: SortTimer): BroadcastIndex = {
    val block = new RowBlock(layout, memory = null)
    def all = PackedRows.unpack(rows, layout.input.size)
    val groups = new JHashMap[UnsafeRow, Integer]
    if (keys.isEmpty) all.foreach(block.append(_, NoGroup))
    else {
      block.grouped()
      val keyOf = keyProjection(keys, layout.input)
      all.foreach { row =>
        keyOf(row).foreach { key =>
          val known = groups.get(key)
          val number = if (known == null) groups.size else known.intValue
          if (block.append(row, number) && known == null) groups.put(key.copy(), number)
        }
      }
    }
    timer.time(block.sort())
    new BroadcastIndex(block, groups)
  }

  /** The keys of a row; None if one is NULL, which equals nothing. */
  def keyProjection(
      keys: Seq[Expression],
      input: Seq[Attribute]): InternalRow => Option[UnsafeRow] = {
    val project = UnsafeProjection.create(keys, input)
    row => {
      val key = project(row)
      if (key.anyNull) None else Some(key)
    }
  }
}
