// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.util.{BitSet => JBitSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, MutableProjection}

/**
 * The rows of a block for which an expression fails, by the order in which they were added.
 *
 * @param checks the expressions, over the columns `input`; usually there are none
 */
private[block] final class RowFailures(checks: Seq[Expression], input: Seq[Attribute]) {
  private val project: MutableProjection =
    if (checks.isEmpty) null else MutableProjection.create(checks, input)
  private val rows = new JBitSet

  /** The first error. It stands for all, which are of one kind. */
  var error: Option[Exception] = None

  def check(row: InternalRow, position: Int): Unit = if (project != null) evaluate(row, position)

  private def evaluate(row: InternalRow, position: Int): Unit =
    try project(row)
    catch {
      case e: Exception =>
        rows.set(position)
        error = error.orElse(Some(e))
    }

  def has(position: Int): Boolean = rows.get(position)

  /** Adds the failures of other rows, which follow the first `n` rows. */
  def addAll(n: Int, other: RowFailures): Unit = {
    other.rows.stream().forEach(row => rows.set(n + row))
    error = error.orElse(other.error)
  }

  def clear(): Unit = {
    rows.clear()
    error = None
  }
}
