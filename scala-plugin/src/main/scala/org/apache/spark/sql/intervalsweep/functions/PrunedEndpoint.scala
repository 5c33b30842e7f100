// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/**
 * Replaces an endpoint that a relation does not read, so that its columns can be pruned.
 *
 * @param shown the text of the endpoint in plans
 * @param sql   the SQL text of the endpoint
 */
case class PrunedEndpoint(shown: String, override val sql: String, dataType: DataType)
    extends LeafExpression with Unevaluable {
  override def nullable: Boolean = true
  override def toString: String = shown
  override lazy val canonicalized: Expression = copy(shown = "", sql = "")
}
