// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Generator}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * The fragments of a period, one row for each, with its start and end as LONGs. The rows are made
 * one by one, and the optimizer never evaluates a generator. So a long period takes no memory, and
 * a period without an end is an error only if a row has it.
 *
 * @param from   the start of the period; it raises the error for periods that are not bounded
 * @param length the length of all fragments but the last
 */
private[temporal] case class FragmentRows(from: Expression, to: Expression, length: Long)
    extends Expression with Generator with CodegenFallback with BinaryLike[Expression] {

  override def left: Expression = from
  override def right: Expression = to

  override def elementSchema: StructType =
    new StructType().add("start", LongType, nullable = false).add("end", LongType, nullable = false)

  override def eval(input: InternalRow): IterableOnce[InternalRow] = {
    val first = from.eval(input).asInstanceOf[Long]
    val last = to.eval(input).asInstanceOf[Long]
    Iterator.iterate(first)(after).takeWhile(_ < last)
      .map(start => InternalRow(start, math.min(after(start), last)))
  }

  private def after(start: Long): Long =
    if (start > Long.MaxValue - length) Long.MaxValue else start + length

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): FragmentRows = copy(from = newLeft, to = newRight)
}
