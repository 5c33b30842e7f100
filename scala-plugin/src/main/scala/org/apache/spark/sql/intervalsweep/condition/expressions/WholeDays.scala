// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._

/** Microseconds in whole days, rounded up or down. */
case class WholeDays(child: Expression, up: Boolean) extends UnaryExpression {

  override def nullIntolerant: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "whole_days"

  override protected def nullSafeEval(value: Any): Any =
    WholeDays.of(value.asInstanceOf[Long], up)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val days = WholeDays.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, value => s"$days.of($value, $up)")
  }

  override protected def withNewChildInternal(newChild: Expression): WholeDays =
    copy(child = newChild)
}

object WholeDays {
  def of(micros: Long, up: Boolean): Long = {
    val down = Math.floorDiv(micros, MICROS_PER_DAY)
    if (up && Math.floorMod(micros, MICROS_PER_DAY) != 0) down + 1 else down
  }
}
