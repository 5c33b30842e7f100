// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * An encoded bound on a FLOAT or DOUBLE `x`: the upper bound of `x - anchor <= limit`, or the lower
 * bound of `anchor - x <= limit`, with Spark's rounded difference. It may admit too many values,
 * never too few:
 * {{{
 *   rounded(x - anchor) <= limit   =>   x - anchor < next(limit)   =>   x <= next(anchor + next(limit))
 * }}}
 * The bound is open if `anchor` or `limit` is NaN. Unlike [[FloatingBound]] it does not assume that
 * a difference must be finite.
 *
 * @param single whether the difference is a FLOAT, so that `next(limit)` is the next FLOAT
 */
case class DifferenceBound(left: Expression, right: Expression, upper: Boolean, single: Boolean)
    extends BinaryExpression {

  override def nullIntolerant: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "difference_bound"

  override def sql: String = s"(${left.sql} ${if (upper) "+" else "-"} ${right.sql})"

  override def toString: String = s"($left ${if (upper) "+" else "-"} $right)"

  override protected def nullSafeEval(anchor: Any, limit: Any): Any = DifferenceBound.of(
    anchor.asInstanceOf[Number].doubleValue,
    limit.asInstanceOf[Number].doubleValue,
    upper,
    single)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val bounds = DifferenceBound.getClass.getName.stripSuffix("$")
    defineCodeGen(
      ctx,
      ev,
      (anchor, limit) => s"$bounds.of((double) $anchor, (double) $limit, $upper, $single)")
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): DifferenceBound =
    copy(left = newLeft, right = newRight)
}

object DifferenceBound {
  def of(anchor: Double, limit: Double, upper: Boolean, single: Boolean): Long = {
    val reach = if (single) math.nextUp(limit.toFloat).toDouble else math.nextUp(limit)
    val end = if (upper) math.nextUp(anchor + reach) else math.nextDown(anchor - reach)
    // The sum of opposite infinities is NaN, too.
    if (!end.isNaN) EndpointEncoding.ofDouble(end)
    else if (upper) Long.MaxValue
    else Long.MinValue
  }
}
