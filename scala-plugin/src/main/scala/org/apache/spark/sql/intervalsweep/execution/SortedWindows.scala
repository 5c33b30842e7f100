package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending, Attribute, BoundReference, Expression, RowOrdering, SortOrder, UnsafeProjection,
  UnsafeRow
}

/**
 * The windows of a task whose two inputs are sorted by (keys, sort endpoint), as a merge join reads
 * them. A window holds whole key groups of the resident side, many small ones or one large, and as
 * many rows of the same groups of the stream; a group with more of those takes several windows:
 *
 * {{{
 *   resident   k1 k1 k2 | k5 k5 k5 k5 k5 | k5 (the same) | k7
 *   stream     k1 k2 k2 | k5 k5 k5 k5 .. | .. k5 k5      | k7 k7
 *              window 1   window 2         window 3        window 4
 * }}}
 *
 * Without keys the whole partition is one group.
 */
final class SortedWindows(
    residentInput: SortedInput,
    streamInput: SortedInput,
    override val resident: RowBlock,
    override val stream: RowBlock,
    size: WindowSize)
    extends Windows {
  private val hasKeys = residentInput.hasKeys
  private var current = BroadcastIndex.NoGroup
  private var isWithinGroup = false

  private var isNewResident = true
  override def residentChanged: Boolean = isNewResident
  override def token: String = ""

  override def next(): Boolean = {
    stream.clear()
    isNewResident = !isWithinGroup
    if (isWithinGroup) fillStream()
    while (isEmpty && open()) {}
    !isEmpty
  }

  private def isEmpty: Boolean = resident.numRows == 0 || stream.numRows == 0

  /** Reads key groups until the window is full; false when no key is left that both inputs have. */
  private def open(): Boolean = {
    isNewResident = true
    resident.clear()
    stream.clear()
    var group = 0
    isWithinGroup = false
    while (!isWithinGroup && hasRoom && align()) {
      current = if (hasKeys) group else BroadcastIndex.NoGroup
      fillResident()
      fillStream()
      group += 1
    }
    group > 0
  }

  private def hasRoom: Boolean =
    resident.numRows < size.residentRows && stream.numRows < size.streamRows

  /** Goes on to the next key that both inputs have. */
  private def align(): Boolean = {
    var order = 1
    while (order != 0 && residentInput.hasRow && streamInput.hasRow) {
      order = residentInput.compareKey(streamInput)
      if (order < 0) residentInput.advance()
      else if (order > 0) streamInput.advance()
    }
    order == 0
  }

  /** All resident rows of the current key. */
  private def fillResident(): Unit = {
    residentInput.holdKey()
    while (residentInput.hasRow && residentInput.isHeldKey) {
      resident.append(residentInput.row, current)
      residentInput.advance()
    }
    streamInput.holdKey()
  }

  /** The stream's rows of the same key, as far as there is room. */
  private def fillStream(): Unit = {
    while (streamInput.hasRow && streamInput.isHeldKey && stream.numRows < size.streamRows) {
      stream.append(streamInput.row, current)
      streamInput.advance()
    }
    isWithinGroup = streamInput.hasRow && streamInput.isHeldKey
  }
}

/** Rows that come sorted by keys; those with a NULL key, which equals nothing, are passed over. */
final class SortedInput(
    rows: Iterator[InternalRow],
    keys: Seq[Expression],
    input: Seq[Attribute]) {
  private val project = UnsafeProjection.create(keys, input)
  private val ordering = RowOrdering.create(
    keys.zipWithIndex.map { case (key, i) =>
      SortOrder(BoundReference(i, key.dataType, nullable = true), Ascending)
    },
    Nil)
  private var key: UnsafeRow = _
  private var held: UnsafeRow = _

  val hasKeys: Boolean = keys.nonEmpty
  var row: InternalRow = _
  advance()

  def hasRow: Boolean = row != null

  def advance(): Unit = {
    row = null
    while (row == null && rows.hasNext) {
      val next = rows.next()
      if (hasKeys) key = project(next)
      if (!hasKeys || !key.anyNull) row = next
    }
  }

  def compareKey(other: SortedInput): Int = if (hasKeys) ordering.compare(key, other.key) else 0

  /** Keeps the current key, to tell when it ends. */
  def holdKey(): Unit = if (hasKeys) held = key.copy()

  def isHeldKey: Boolean = !hasKeys || ordering.compare(key, held) == 0
}
