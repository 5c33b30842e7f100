// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, LeafExpression, Unevaluable
}
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * The index of the sweep that proposed a pair, counted from 0 in the sweeps of a
 * [[SweepCondition]]. It occurs in residual conditions.
 */
case class SweepNumber() extends LeafExpression with Unevaluable {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def sql: String = "sweep"
  override def toString: String = sql
}

object SweepNumber {

  /** Replaces each [[SweepNumber]] of an expression by the column that contains the index. */
  def readFrom(number: Attribute, e: Expression): Expression =
    e.transform { case SweepNumber() => number }
}
