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
      case _ if keys.isEmpty => block.fill(parts(rows, layout))
      case _ => fillByKeys(block.grouped(), groups, rows, RowKeys.of(keys, layout.input))
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
    val blocks = parts(rows, block.layout.copy(endpoints = endpoints))
    block.fill(blocks)
    var first = 0
    blocks.foreach { part =>
      groups.addAll(part.endpoints.last, part.numRows, block.groups, first)
      first += part.numRows
    }
  }

  private def fillByKeys(
      block: RowBlock,
      groups: KeyGroups,
      rows: Array[InternalRow],
      key: RowKeys): Unit = unpack(rows, block.layout).foreach { row =>
    key.read(row)
    if (!key.anyNull) {
      val known = groups.of(key)
      if (known != NoGroup) block.append(row, known)
      else if (block.append(row, groups.size)) groups.add(key)
    }
  }

  private def unpack(rows: Array[InternalRow], layout: BlockLayout): Iterator[InternalRow] =
    PackedRows.unpack(rows, layout.input.map(_.dataType).toArray, PackedRows.codec)

  /**
   * The packed rows in some blocks, one for each core. In parallel: the executor's other tasks wait
   * for the index, so that their cores are free. The blocks are made by the task, since what they
   * compile needs its class loader.
   */
  private def parts(rows: Array[InternalRow], layout: BlockLayout): Seq[RowBlock] = {
    val count = math.min(rows.length, Runtime.getRuntime.availableProcessors)
    val blocks = Array.fill(count)(new RowBlock(layout, memory = null))
    def start(k: Int): Int = (k.toLong * rows.length / count).toInt
    IntStream.range(0, count).parallel().forEach { k =>
      blocks(k).appendAll(unpack(rows.slice(start(k), start(k + 1)), layout))
    }
    blocks.toSeq
  }
}
