// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, LeafExpression, Unevaluable
}
import org.apache.spark.sql.types.{DataType, IntegerType}

/** In a residual: which of the sweeps of its [[SweepCondition]] proposes the pair, from 0 on. */
case class SweepNumber() extends LeafExpression with Unevaluable {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def sql: String = "sweep"
  override def toString: String = sql
}

object SweepNumber {

  /** An expression that reads the number from a column. */
  def readFrom(number: Attribute, e: Expression): Expression =
    e.transform { case SweepNumber() => number }
}
