// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator, CodegenContext, ExprCode, FalseLiteral
}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types._

/**
 * An endpoint of a period of valid time, as a LONG that is never NULL. NULL means unbounded: the
 * smallest LONG for a start, and the largest LONG for an end. The largest value of the type also
 * means unbounded, so nothing is valid at that instant.
 */
case class PeriodEndpoint(child: Expression, isEnd: Boolean) extends UnaryExpression {

  /** The LONG that NULL stands for. */
  def unbounded: Long = if (isEnd) Long.MaxValue else Long.MinValue

  /** The encoding that means unbounded, too. */
  lazy val largest: Long = EndpointEncoding.ofLargest(child.dataType)

  override def nullable: Boolean = false

  override def dataType: DataType = LongType

  override def prettyName: String = "period_endpoint"

  override def sql: String = child.sql

  override def toString: String = child.toString

  override def eval(input: InternalRow): Any = {
    val value = child.eval(input)
    if (value == null) unbounded
    else {
      val encoded = EndpointEncoding.of(value)
      if (encoded == largest) Long.MaxValue else encoded
    }
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val encoded = EncodedEndpoint(child).genCode(ctx)
    ev.copy(
      code = code"""
        ${encoded.code}
        long ${ev.value} = ${encoded.isNull} ? ${unbounded}L : ${encoded.value};
        if (${ev.value} == ${largest}L) ${ev.value} = ${Long.MaxValue}L;""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(newChild: Expression): PeriodEndpoint =
    copy(child = newChild)
}

/**
 * The value that a LONG encodes: the inverse of [[PeriodEndpoint]].
 *
 * @param isPeriod whether the smallest and the largest LONG mean unbounded and become NULL, as does
 *                 any other LONG that encodes no value of the type
 */
case class DecodedEndpoint(child: Expression, dataType: DataType, isPeriod: Boolean = true)
    extends UnaryExpression {

  override def nullIntolerant: Boolean = true

  override def nullable: Boolean = true

  override def prettyName: String = "decoded_endpoint"

  private lazy val (smallest, largest) = {
    val (least, most) = EndpointEncoding.range(dataType)
    (math.max(least, Long.MinValue + 1), math.min(most, Long.MaxValue - 1))
  }

  private def isUnbounded(encoded: Long): Boolean =
    isPeriod && (encoded < smallest || encoded > largest)

  override def eval(input: InternalRow): Any = child.eval(input) match {
    case encoded: Long if !isUnbounded(encoded) => EndpointEncoding.decode(encoded, dataType)
    case _ => null
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val encoded = child.genCode(ctx)
    val encoding = EndpointEncoding.getClass.getName.stripSuffix("$")
    val javaType = CodeGenerator.javaType(dataType)
    val value = dataType match {
      case DecimalType.Fixed(p, s) =>
        s"Decimal.createUnsafe(${encoded.value}, $p, $s)"
      case FloatType | DoubleType => s"($javaType) $encoding.toDouble(${encoded.value})"
      case _ => s"($javaType) ${encoded.value}"
    }
    val isUnbounded =
      if (!isPeriod) "false"
      else s"(${encoded.value} < ${smallest}L || ${encoded.value} > ${largest}L)"
    ev.copy(code = code"""
      ${encoded.code}
      boolean ${ev.isNull} = ${encoded.isNull} || $isUnbounded;
      $javaType ${ev.value} = ${CodeGenerator.defaultValue(dataType)};
      if (!${ev.isNull}) ${ev.value} = $value;""")
  }

  override protected def withNewChildInternal(newChild: Expression): DecodedEndpoint =
    copy(child = newChild)
}
