// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import java.math.{BigInteger, RoundingMode}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, Decimal, LongType}

/**
 * The inclusive bound on `x` from a comparison of `x` with a DECIMAL, where `x` counts units of
 * 10^-`scale`. It is the last unit within the decimal, so it is exact: `x <= 4.5` is `x <= 4`. Two
 * decimals of different scales thus bound the same `x`. NULL if no LONG is within the bound.
 */
case class NarrowedBound(child: Expression, scale: Int, strict: Boolean, upper: Boolean)
    extends UnaryExpression {

  override def nullIntolerant: Boolean = true

  override def nullable: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "narrowed_bound"

  override def sql: String = child.sql

  override def toString: String = child.toString

  override protected def nullSafeEval(value: Any): Any =
    NarrowedBound.of(value.asInstanceOf[Decimal], scale, strict, upper)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val bounds = NarrowedBound.getClass.getName.stripSuffix("$")
    val found = ctx.freshName("bound")
    nullSafeCodeGen(
      ctx,
      ev,
      value => s"""
      Long $found = $bounds.of($value, $scale, $strict, $upper);
      ${ev.isNull} = $found == null;
      if (!${ev.isNull}) ${ev.value} = $found;""")
  }

  override protected def withNewChildInternal(newChild: Expression): NarrowedBound =
    copy(child = newChild)
}

object NarrowedBound {
  private val Smallest = BigInteger.valueOf(Long.MinValue)
  private val Largest = BigInteger.valueOf(Long.MaxValue)

  def of(value: Decimal, scale: Int, strict: Boolean, upper: Boolean): java.lang.Long = {
    val rounding = if (upper == strict) RoundingMode.CEILING else RoundingMode.FLOOR
    val whole = value.toJavaBigDecimal.setScale(scale, rounding).unscaledValue
    val step = BigInteger.valueOf(if (upper) -1 else 1)
    val end = if (strict) whole.add(step) else whole
    val isNone = if (upper) end.compareTo(Smallest) < 0 else end.compareTo(Largest) > 0
    if (isNone) null else end.max(Smallest).min(Largest).longValueExact
  }
}
