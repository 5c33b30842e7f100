// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.types.DataType

/**
 * The columns and endpoints that a block keeps of one side's rows.
 *
 * @param input the columns of the side's rows
 * @param payload the columns that are read when a pair is emitted
 * @param endpoints the endpoints that the worker compares, of LongType. A row with a NULL endpoint
 *   matches nothing.
 * @param sortEndpoint the number of the endpoint by which the worker expects rows to be sorted
 * @param tieEndpoint the number of the endpoint that orders rows with equal sort endpoints, if
 *   their order matters
 * @param checks expressions whose errors are raised for rows that have a match
 * @param copies the INT column with the number of ranges that a row is in, if rows may be in
 *   several
 * @param ties the order of rows with equal sort endpoints by columns of `payload`, if it matters
 */
case class BlockLayout(
    input: Seq[Attribute],
    payload: Seq[Attribute],
    endpoints: Seq[Expression],
    sortEndpoint: Int,
    tieEndpoint: Option[Int] = None,
    checks: Seq[Expression] = Nil,
    copies: Option[Attribute] = None,
    ties: Seq[SortOrder] = Nil) {
  private val kept = payload ++ copies

  /**
   * The types of the columns that a block keeps. `ordinals` has their positions in an input row.
   */
  val columnTypes: Seq[DataType] = kept.map(_.dataType)

  /** A layout for rows that are never compared. */
  def withoutEndpoints: BlockLayout = copy(endpoints = Nil, checks = Nil, ties = Nil)

  val ordinals: Array[Int] = kept.map(a => input.indexWhere(_.exprId == a.exprId)).toArray
}
