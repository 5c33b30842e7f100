// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.Join

/**
 * Expressions of a stream join as text. A checkpoint identifies its join by them, so they name the
 * sides and not the tables.
 */
private[streams] object JoinCondition {

  def text(e: Expression, join: Join): String = {
    def of(side: String, column: AttributeReference): Attribute =
      column.withQualifier(Seq(side))
    e.transform {
      case a: AttributeReference if join.left.outputSet.contains(a) => of("left", a)
      case a: AttributeReference if join.right.outputSet.contains(a) => of("right", a)
    }.sql
  }
}
