// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.Join

/** The condition of a stream join as text. A checkpoint identifies its join by this text. */
private[streams] object JoinCondition {

  /** The text that is written, then the text in older checkpoints, which has names of tables. */
  def texts(condition: Expression, join: Join): Seq[String] = {
    def of(side: String, column: AttributeReference): Attribute =
      column.withQualifier(Seq(side))
    val bySides = condition.transform {
      case a: AttributeReference if join.left.outputSet.contains(a) => of("left", a)
      case a: AttributeReference if join.right.outputSet.contains(a) => of("right", a)
    }
    Seq(bySides.sql, condition.sql)
  }
}
