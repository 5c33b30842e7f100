package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The windows of a join with a broadcast side: that side whole, and batches of the other.
 *
 * @param index the broadcast side
 * @param input the rows of the other side, in any order
 * @param keyOf the key groups of those rows; None when the join has no keys
 * @param sortStream whether a sweep takes the batches as points
 */
final class BroadcastWindows(
    index: BroadcastIndex,
    input: Iterator[InternalRow],
    override val stream: RowBlock,
    keyOf: Option[InternalRow => Int],
    size: WindowSize,
    sortStream: Boolean,
    timer: SortTimer,
    override val token: String)
    extends Windows {
  private var windows = 0

  override def resident: RowBlock = index.block
  override def residentChanged: Boolean = windows == 1

  override def next(): Boolean = {
    stream.clear()
    if (index.block.numRows > 0) fill()
    if (sortStream && stream.numRows > 0) timer.time(stream.sort())
    windows += 1
    stream.numRows > 0
  }

  private def fill(): Unit =
    while (stream.numRows < size.streamRows && input.hasNext) {
      val row = input.next()
      keyOf match {
        case None => stream.append(row, BroadcastIndex.NoGroup)
        case Some(group) =>
          val number = group(row)
          if (number >= 0) stream.append(row, number)
      }
    }
}
