// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import java.util.ArrayDeque

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.intervalsweep.temporal.PeriodRule

/**
 * The rows of a [[PeriodSweepExec]]: each the values, a start and an end. For `a` copies of a value
 * on the left and `b` on the right, and with rule max(a - b, 0):
 * {{{
 *   time      1    3    4    5    6    7
 *   a         1    2    2    1    1    0
 *   b         0    0    1    1    0    0
 *   rule      1    2    1    0    1    0
 *   starts    1    3              6
 *   ends                4    5         7      -> [1, 4) [3, 5) [6, 7)
 * }}}
 *
 * @param changes sorted by their values and then by time
 * @param timeAt  where their time is, and `leftAt`, `rightAt` the changes of `a` and `b`
 */
private[execution] final class SweptPeriods(
    rule: PeriodRule,
    changes: Iterator[InternalRow],
    valuesOf: UnsafeProjection,
    timeAt: Int,
    leftAt: Int,
    rightAt: Int)
    extends Iterator[InternalRow] {

  private var values: UnsafeRow = _
  private var time = Long.MinValue
  private var a = 0L
  private var b = 0L
  private var valid = 0L
  private var cutAt = Long.MinValue

  /** The starts without an end, each with how many they are, from the first on. */
  private val starts = new ArrayDeque[Array[Long]]

  /** What can be returned: how often, from when to when. */
  private val ready = new ArrayDeque[Array[Long]]

  private val row = new JoinedRow
  private val ends = new GenericInternalRow(2)
  private var readyValues: UnsafeRow = _

  override def hasNext: Boolean = {
    while (ready.isEmpty && advance()) {}
    !ready.isEmpty
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val first = ready.peekFirst()
    ends.setLong(0, first(1))
    ends.setLong(1, first(2))
    first(0) -= 1
    if (first(0) == 0) ready.removeFirst()
    row(readyValues, ends)
  }

  /** Takes a change, or the end of all; false if there is nothing more. */
  private def advance(): Boolean =
    if (changes.hasNext) {
      val change = changes.next()
      val now = change.getLong(timeAt)
      val of = valuesOf(change)
      val sameValues = values != null && values == of
      if (!sameValues || now != time) settle()
      if (!sameValues) begin(of)
      time = now
      a += change.getLong(leftAt)
      b += change.getLong(rightAt)
      true
    } else if (values != null) {
      settle()
      finish()
      values = null
      true
    } else false

  private def begin(of: UnsafeRow): Unit = {
    if (values != null) finish()
    values = of.copy()
    a = 0
    b = 0
  }

  /** All changes of an instant are known. */
  private def settle(): Unit = if (values != null) {
    val before = valid
    valid = rule(a, b)
    if (rule.isCut) {
      if (before > 0) put(1, cutAt, time)
      cutAt = time
    } else if (valid > before) starts.addLast(Array(valid - before, time))
    else end(before - valid, time)
  }

  /** The value's changes are over; what is still valid is so for ever. */
  private def finish(): Unit = {
    if (rule.isCut) { if (valid > 0) put(1, cutAt, Long.MaxValue) }
    else end(valid, Long.MaxValue)
    valid = 0
  }

  private def end(many: Long, at: Long): Unit = {
    var left = many
    while (left > 0) {
      val first = starts.peekFirst()
      val count = math.min(left, first(0))
      put(count, first(1), at)
      first(0) -= count
      if (first(0) == 0) starts.removeFirst()
      left -= count
    }
  }

  private def put(count: Long, from: Long, to: Long): Unit = {
    readyValues = values
    ready.addLast(Array(count, from, to))
  }
}
