// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/**
 * Stands for an endpoint that nothing asks for.
 *
 * @param shown how the endpoint is shown in plans
 * @param sql   how it is written
 */
case class PrunedEndpoint(shown: String, override val sql: String, dataType: DataType)
    extends LeafExpression with Unevaluable {
  override def nullable: Boolean = true
  override def toString: String = shown
  override lazy val canonicalized: Expression = copy(shown = "", sql = "")
}
