// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.types.DataType

/**
 * What a block keeps of one side's rows.
 *
 * @param input the columns of the side's rows
 * @param payload the columns that are read again when a pair is emitted
 * @param endpoints the endpoints that the worker compares, of LongType; NULL: matches nothing
 * @param sortEndpoint the endpoint by which the worker expects the rows in order
 * @param tieEndpoint the endpoint by which rows are in order that have the same there, if it matters
 * @param checks what must not fail for a row that has a match
 * @param copies the INT column that says in how many ranges a row is, if it may be in several
 */
case class BlockLayout(
    input: Seq[Attribute],
    payload: Seq[Attribute],
    endpoints: Seq[Expression],
    sortEndpoint: Int,
    tieEndpoint: Option[Int] = None,
    checks: Seq[Expression] = Nil,
    copies: Option[Attribute] = None) {
  private val kept = payload ++ copies

  /** The columns that a block keeps, and where they are in a row. */
  val columnTypes: Seq[DataType] = kept.map(_.dataType)

  /** For rows that are never compared. */
  def withoutEndpoints: BlockLayout = copy(endpoints = Nil, checks = Nil)

  val ordinals: Array[Int] = kept.map(a => input.indexWhere(_.exprId == a.exprId)).toArray
}
