// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Says that the rows of a relation are changes: each is valid until the next one of its key.
 *
 * @param keys    what a change is about, such as the id of a product
 * @param order   which of the changes of a key at one instant is the last; if empty, all are valid
 * @param deleted whether a change only ends the previous change
 */
case class UntilNext(keys: Seq[Expression], order: Seq[Expression], deleted: Expression)
    extends Expression with Unevaluable {
  override def children: Seq[Expression] = keys ++ order :+ deleted

  override def nullable: Boolean = false

  override def dataType: DataType = BooleanType

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): UntilNext = {
    val (newKeys, rest) = newChildren.splitAt(keys.size)
    UntilNext(newKeys, rest.init, rest.last)
  }
}
