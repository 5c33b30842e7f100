// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, JoinedRow, MutableProjection, SpecificInternalRow
}
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate

/**
 * The buffers of some of Spark's aggregate functions, evaluated outside of Spark's own operators.
 *
 * @param input   the columns of the rows that are added
 * @param updates the functions' update expressions, or their merge expressions if the rows are
 *                buffers
 */
final class AggregateBuffer(
    functions: Seq[DeclarativeAggregate],
    input: Seq[Attribute],
    updates: Seq[Expression]) {

  /** The columns of [[row]]. */
  val attributes: Seq[Attribute] = functions.flatMap(_.aggBufferAttributes)
  val row = new SpecificInternalRow(attributes.map(_.dataType))
  private val initial =
    MutableProjection.create(functions.flatMap(_.initialValues), Nil).target(row)
  private val updated = MutableProjection.create(updates, attributes ++ input).target(row)
  private val joined = new JoinedRow

  def clear(): Unit = {
    initial(InternalRow.empty)
    ()
  }

  def add(added: InternalRow): Unit = {
    updated(joined(row, added))
    ()
  }
}
