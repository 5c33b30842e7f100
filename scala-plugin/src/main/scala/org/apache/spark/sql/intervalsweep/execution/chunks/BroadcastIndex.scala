// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import java.util.stream.IntStream

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockLayout, KeyGroups, ManyKeysGroups, NumberGroups, RowBlock, RowKeys
}
import org.apache.spark.sql.intervalsweep.execution.metrics.SortTimer
import org.apache.spark.sql.intervalsweep.execution.packing.PackedRows
import org.apache.spark.util.SizeEstimator

/**
 * A broadcast side by column, sorted by (group, sort endpoint), and the numbers of its key groups.
 * An executor builds it once. The tasks of a join share it, and only read it.
 */
final class BroadcastIndex(val block: RowBlock, val groups: KeyGroups, val memory: BroadcastMemory)

object BroadcastIndex {

  /** The indexes, by the array that was broadcast, and by the name of the join. */
  private val shared = new ExecutorCache[BroadcastIndex]

  /**
   * The index of packed rows for the join called `join`: the one that another task has built, or a
   * new one. For every chunk of rows, the build checks whether the task was killed.
   */
  def of(
      rows: Array[InternalRow],
      join: String,
      layout: BlockLayout,
      keys: Seq[Expression],
      timer: SortTimer,
      context: TaskContext): BroadcastIndex = {
    val check = () => context.killTaskIfInterrupted()
    val index = shared.get(rows, join, check) {
      val memory = new BroadcastMemory
      memory.usedBy(context)
      new IndexBuilder(rows, layout, keys, memory, check).build(timer)
    }
    index.memory.usedBy(context)
    index
  }
}

/** Builds a [[BroadcastIndex]]. */
private final class IndexBuilder(
    rows: Array[InternalRow],
    layout: BlockLayout,
    keys: Seq[Expression],
    memory: BroadcastMemory,
    check: () => Unit) {

  def build(timer: SortTimer): BroadcastIndex = {
    check()
    val block = new RowBlock(layout, memory)
    val groups = KeyGroups.of(keys)
    groups match {
      case numbers: NumberGroups => fillByNumber(block.grouped(), numbers)
      case many: ManyKeysGroups if keys.nonEmpty => fillByKeys(block.grouped(), many)
      case _ => block.fill(blocks(layout))
    }
    check()
    timer.time(block.sort())
    memory.reserve(SizeEstimator.estimate(groups))
    new BroadcastIndex(block, groups, memory)
  }

  /** Reads the key as an additional endpoint: a row whose key is NULL matches nothing, either. */
  private def fillByNumber(block: RowBlock, groups: NumberGroups): Unit = {
    val endpoints = layout.endpoints :+ EncodedEndpoint(keys.head)
    val some = blocks(layout.copy(endpoints = endpoints))
    block.fill(some)
    var first = 0
    some.foreach { part =>
      groups.addAll(part.endpoints.last, part.numRows, block.groups, first)
      first += part.numRows
    }
  }

  /** Each core numbers the groups of its own rows. Then all groups get common numbers. */
  private def fillByKeys(block: RowBlock, groups: ManyKeysGroups): Unit = {
    val some = inParallel(layout)(new KeyedRows(layout, keys, memory))(_.appendAll(_))
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

  private def blocks(layout: BlockLayout): Seq[RowBlock] =
    inParallel(layout)(new RowBlock(layout, memory))(_.appendAll(_))

  /**
   * Divides the packed rows among all cores: the executor's other tasks wait for the index, so
   * their cores are idle. The task itself calls `make` for each core, since the code that it
   * compiles needs the task's class loader.
   */
  private def inParallel[T](
      layout: BlockLayout)(make: => T)(fill: (T, Iterator[InternalRow]) => Unit): Seq[T] = {
    val types = layout.input.map(_.dataType).toArray
    val count = math.min(rows.length, Runtime.getRuntime.availableProcessors)
    val parts = Seq.fill(count)(make)
    def start(k: Int): Int = (k.toLong * rows.length / count).toInt
    IntStream.range(0, count).parallel().forEach { k =>
      val some = rows.slice(start(k), start(k + 1))
      fill(parts(k), PackedRows.unpack(some, types, PackedRows.codec, check))
    }
    parts
  }
}

/** Some rows of a broadcast, with the groups of their keys. */
private final class KeyedRows(
    layout: BlockLayout,
    keys: Seq[Expression],
    memory: BroadcastMemory) {
  private val key = RowKeys.of(keys, layout.input)
  val block: RowBlock = new RowBlock(layout, memory).grouped()
  val groups: ManyKeysGroups = new ManyKeysGroups

  /** Adds rows. Rows with a NULL key or a NULL endpoint are left out. */
  def appendAll(rows: Iterator[InternalRow]): Unit = rows.foreach { row =>
    key.read(row)
    if (!key.anyNull) {
      val known = groups.of(key)
      if (known != KeyGroups.NoGroup) block.append(row, known)
      else if (block.append(row, groups.size)) groups.add(key)
    }
  }
}
