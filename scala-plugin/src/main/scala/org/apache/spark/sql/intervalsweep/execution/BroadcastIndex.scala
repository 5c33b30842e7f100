// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.util.stream.IntStream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.intervalsweep.condition.EncodedEndpoint

/**
 * A broadcast side in columns, sorted by (group, sort endpoint), and the numbers of its key groups.
 * It is made once in an executor and shared by the tasks of a join; read only.
 */
final class BroadcastIndex(val block: RowBlock, val groups: KeyGroups)

object BroadcastIndex {
  val NoGroup: Int = -1

  /** Made of the array that was broadcast, by the name of the join. */
  private val shared = new SharedByTasks[BroadcastIndex]

  /** The index of some packed rows for the join called `join`: that of another task, or a new one. */
  def of(
      rows: Array[InternalRow],
      join: String,
      layout: BlockLayout,
      keys: Seq[Expression],
      timer: SortTimer): BroadcastIndex =
    shared.get(rows, join)(build(rows, layout, keys, timer))

  private def build(
      rows: Array[InternalRow],
      layout: BlockLayout,
      keys: Seq[Expression],
      timer: SortTimer): BroadcastIndex = {
    val block = new RowBlock(layout, memory = null)
    val groups = KeyGroups.of(keys)
    groups match {
      case numbers: NumberGroups => fillByNumber(block.grouped(), numbers, rows, keys.head)
      case many: ManyKeysGroups if keys.nonEmpty => fillByKeys(block.grouped(), many, rows, keys)
      case _ => block.fill(blocks(rows, layout))
    }
    timer.time(block.sort())
    new BroadcastIndex(block, groups)
  }

  /** The key is read as one endpoint more: a row without it matches nothing, either. */
  private def fillByNumber(
      block: RowBlock,
      groups: NumberGroups,
      rows: Array[InternalRow],
      key: Expression): Unit = {
    val endpoints = block.layout.endpoints :+ EncodedEndpoint(key)
    val some = blocks(rows, block.layout.copy(endpoints = endpoints))
    block.fill(some)
    var first = 0
    some.foreach { part =>
      groups.addAll(part.endpoints.last, part.numRows, block.groups, first)
      first += part.numRows
    }
  }

  /** Each core numbers the groups of its rows; they have other numbers together. */
  private def fillByKeys(
      block: RowBlock,
      groups: ManyKeysGroups,
      rows: Array[InternalRow],
      keys: Seq[Expression]): Unit = {
    val some = inParallel(rows, block.layout)(new KeyedRows(block.layout, keys))(_.appendAll(_))
    block.fill(some.map(_.block))
    var first = 0
    some.foreach { part =>
      val numbers = groups.addAll(part.groups)
      val (from, n) = (part.block.groups, part.block.numRows)
      var i = 0
      while (i < n) { block.groups(first + i) = numbers(from(i)); i += 1 }
      first += n
    }
  }

  private def blocks(rows: Array[InternalRow], layout: BlockLayout): Seq[RowBlock] =
    inParallel(rows, layout)(new RowBlock(layout, memory = null))(_.appendAll(_))

  /**
   * Has each core take some of the packed rows. In parallel: the executor's other tasks wait for the
   * index, so that their cores are free. What takes the rows is made by the task, since what it
   * compiles needs its class loader.
   */
  private def inParallel[T](
      rows: Array[InternalRow],
      layout: BlockLayout)(make: => T)(fill: (T, Iterator[InternalRow]) => Unit): Seq[T] = {
    val types = layout.input.map(_.dataType).toArray
    val count = math.min(rows.length, Runtime.getRuntime.availableProcessors)
    val parts = Seq.fill(count)(make)
    def start(k: Int): Int = (k.toLong * rows.length / count).toInt
    IntStream.range(0, count).parallel().forEach { k =>
      val some = rows.slice(start(k), start(k + 1))
      fill(parts(k), PackedRows.unpack(some, types, PackedRows.codec))
    }
    parts
  }
}

/** Some rows of a broadcast, in the groups that their keys make. */
private final class KeyedRows(layout: BlockLayout, keys: Seq[Expression]) {
  private val key = RowKeys.of(keys, layout.input)
  val block: RowBlock = new RowBlock(layout, memory = null).grouped()
  val groups: ManyKeysGroups = new ManyKeysGroups

  /** Leaves out rows without a key or an endpoint. */
  def appendAll(rows: Iterator[InternalRow]): Unit = rows.foreach { row =>
    key.read(row)
    if (!key.anyNull) {
      val known = groups.of(key)
      if (known != BroadcastIndex.NoGroup) block.append(row, known)
      else if (block.append(row, groups.size)) groups.add(key)
    }
  }
}
