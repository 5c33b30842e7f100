// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.Join

/** The condition of a join of streams as a text, by which a checkpoint tells it from others. */
private[streams] object JoinCondition {

  /** The first one is written. The second has the names of tables, as checkpoints once had it. */
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
