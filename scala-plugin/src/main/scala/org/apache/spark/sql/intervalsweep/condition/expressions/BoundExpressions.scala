// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import java.math.{BigDecimal => JBigDecimal, RoundingMode}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types._

/**
 * The narrower of two inclusive bounds: the smaller of two upper bounds, or the larger of two lower
 * bounds. Unlike `least` and `greatest`, it is NULL if one of the bounds is NULL.
 */
case class TighterBound(left: Expression, right: Expression, upper: Boolean)
    extends BinaryExpression {

  override def nullIntolerant: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = if (upper) "least" else "greatest"

  override def sql: String = s"$prettyName(${left.sql}, ${right.sql})"

  override def toString: String = s"$prettyName($left, $right)"

  override protected def nullSafeEval(a: Any, b: Any): Any = {
    val (x, y) = (a.asInstanceOf[Long], b.asInstanceOf[Long])
    if (upper) math.min(x, y) else math.max(x, y)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (a, b) => s"Math.${if (upper) "min" else "max"}($a, $b)")

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): TighterBound =
    copy(left = newLeft, right = newRight)
}

/**
 * `child`, or `instead` if `child` raises an error, such as an overflow of ANSI arithmetic. It is a
 * conditional expression, so that common subexpression elimination does not compute a part of it
 * outside of the `try`.
 */
case class OnErrorElse(child: Expression, instead: Expression) extends Expression
    with ConditionalExpression {

  override def children: Seq[Expression] = Seq(child, instead)

  override def alwaysEvaluatedInputs: Seq[Expression] = Nil

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): OnErrorElse = this

  override def branchGroups: Seq[Seq[Expression]] = Nil

  override def nullable: Boolean = child.nullable || instead.nullable

  override def dataType: DataType = LongType

  override def prettyName: String = "if_fails"

  override def sql: String = child.sql

  override def toString: String = child.toString

  override def eval(input: InternalRow): Any =
    try child.eval(input)
    catch { case _: Exception => instead.eval(input) }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val tried = child.genCode(ctx)
    val fallback = instead.genCode(ctx)
    ev.copy(code = code"""
      boolean ${ev.isNull} = false;
      long ${ev.value} = 0L;
      try {
        ${tried.code}
        ${ev.isNull} = ${tried.isNull};
        ${ev.value} = ${tried.value};
      } catch (Exception failure) {
        ${fallback.code}
        ${ev.isNull} = ${fallback.isNull};
        ${ev.value} = ${fallback.value};
      }""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): OnErrorElse =
    copy(child = newChildren(0), instead = newChildren(1))
}

/**
 * An encoded bound on a double `x`: the upper bound of `x - anchor <= limit`, or the lower bound of
 * `anchor - x <= limit`. Both the difference and the bound are rounded, with an error of at most
 * half a unit in the last place. So the bound is extended to the next double; it may admit too many
 * values, never too few. NULL (no match) if `anchor` is NaN or infinite, because then the
 * difference is, too.
 */
case class FloatingBound(left: Expression, right: Expression, upper: Boolean)
    extends BinaryExpression {

  override def nullIntolerant: Boolean = true

  override def nullable: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "floating_bound"

  override def sql: String = s"(${left.sql} ${if (upper) "+" else "-"} ${right.sql})"

  override def toString: String = s"($left ${if (upper) "+" else "-"} $right)"

  override protected def nullSafeEval(anchor: Any, limit: Any): Any = {
    val at = anchor.asInstanceOf[Number].doubleValue
    if (java.lang.Double.isFinite(at)) {
      FloatingBound.of(at, limit.asInstanceOf[Number].doubleValue, upper)
    } else null
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val bounds = FloatingBound.getClass.getName.stripSuffix("$")
    nullSafeCodeGen(
      ctx,
      ev,
      (anchor, limit) => s"""
      ${ev.isNull} = !Double.isFinite((double) $anchor);
      if (!${ev.isNull}) {
        ${ev.value} = $bounds.of((double) $anchor, (double) $limit, $upper);
      }""")
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): FloatingBound =
    copy(left = newLeft, right = newRight)
}

object FloatingBound {
  def of(anchor: Double, limit: Double, upper: Boolean): Long = {
    // NaN is larger than every difference, so a limit of NaN admits all.
    val reach = if (limit.isNaN) Double.PositiveInfinity else math.nextUp(limit)
    EndpointEncoding.ofDouble(if (upper) math.nextUp(anchor + reach)
    else math.nextDown(anchor - reach))
  }
}

/**
 * The same bound for decimals of more than 18 digits, which is exact before it is encoded. `scale`
 * is the number of digits after the point, and `limit` is a DECIMAL or a DOUBLE. The bound is open
 * if the limit is NaN or infinite.
 */
case class DecimalBound(left: Expression, right: Expression, scale: Int, upper: Boolean)
    extends BinaryExpression {

  override def nullIntolerant: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "decimal_bound"

  override def sql: String = s"(${left.sql} ${if (upper) "+" else "-"} ${right.sql})"

  override def toString: String = s"($left ${if (upper) "+" else "-"} $right)"

  override protected def nullSafeEval(anchor: Any, limit: Any): Any = {
    val at = anchor.asInstanceOf[Decimal]
    limit match {
      case decimal: Decimal => DecimalBound.of(at, decimal, scale, upper)
      case fraction => DecimalBound.of(at, fraction.asInstanceOf[Double], scale, upper)
    }
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val bounds = DecimalBound.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, (anchor, limit) => s"$bounds.of($anchor, $limit, $scale, $upper)")
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): DecimalBound =
    copy(left = newLeft, right = newRight)
}

object DecimalBound {
  def of(anchor: Decimal, limit: Double, scale: Int, upper: Boolean): Long =
    if (java.lang.Double.isFinite(limit)) of(anchor, new JBigDecimal(limit), scale, upper)
    else if (upper) Long.MaxValue
    else Long.MinValue

  def of(anchor: Decimal, limit: Decimal, scale: Int, upper: Boolean): Long =
    of(anchor, limit.toJavaBigDecimal, scale, upper)

  private def of(anchor: Decimal, limit: JBigDecimal, scale: Int, upper: Boolean): Long = {
    val at = anchor.toJavaBigDecimal
    val end = if (upper) at.add(limit) else at.subtract(limit)
    val rounding = if (upper) RoundingMode.FLOOR else RoundingMode.CEILING
    EndpointEncoding.ofUnscaled(end.setScale(scale, rounding).unscaledValue)
  }
}
