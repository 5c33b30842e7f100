// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._

/**
 * The largest whole number of units of 10^-`scale` that is at most `child`, saturated to LONG. A
 * difference that is a whole number of units is at most `child` if and only if it is at most this
 * number. The unit of a day-time interval is the microsecond, or the nanosecond if `scale` is 3.
 */
case class WholeUnits(child: Expression, scale: Int) extends UnaryExpression {

  override def nullIntolerant: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "whole_units"

  override protected def nullSafeEval(value: Any): Any = value match {
    case decimal: Decimal => Differences.floor(decimal, scale)
    case fraction @ (_: Double | _: Float) =>
      Differences.floor(fraction.asInstanceOf[Number].doubleValue, scale)
    case whole => Differences.floor(whole.asInstanceOf[Number].longValue, scale)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val widened = child.dataType match {
      case _: DecimalType => ""
      case _: FractionalType => "(double) "
      case _ => "(long) "
    }
    val differences = Differences.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, value => s"$differences.floor($widened$value, $scale)")
  }

  override protected def withNewChildInternal(newChild: Expression): WholeUnits =
    copy(child = newChild)
}
