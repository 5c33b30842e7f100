// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._

/**
 * A value as a LONG that keeps Spark's order, so that one kind of number is swept whatever was
 * compared:
 * {{{
 *   BYTE, SHORT, INT, LONG           the number
 *   DATE                             days
 *   TIMESTAMP, TIMESTAMP_NTZ         microseconds
 *   TIME                             nanoseconds
 *   day-time, year-month INTERVAL    microseconds, months
 *   DECIMAL(p <= 18, s)              the unscaled value
 *   FLOAT, DOUBLE                    the bits, see EndpointEncoding
 * }}}
 */
case class EncodedEndpoint(child: Expression) extends UnaryExpression {

  override def nullIntolerant: Boolean = true

  override def dataType: DataType = LongType

  override def prettyName: String = "encoded_endpoint"

  override def sql: String = child.sql

  override def toString: String = child.toString

  override protected def nullSafeEval(value: Any): Any = EndpointEncoding.of(value)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val encoding = EndpointEncoding.getClass.getName.stripSuffix("$")
    defineCodeGen(
      ctx,
      ev,
      value =>
        child.dataType match {
          case _: DecimalType => s"$value.toUnscaledLong()"
          case FloatType | DoubleType => s"$encoding.ofDouble((double) $value)"
          case _ => s"(long) $value"
        })
  }

  override protected def withNewChildInternal(newChild: Expression): EncodedEndpoint =
    copy(child = newChild)
}

object EndpointEncoding {

  def isSupported(dataType: DataType): Boolean = dataType match {
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case FloatType | DoubleType => true
    case _ => isWhole(dataType)
  }

  /** Types whose values are whole numbers of a unit, which their arithmetic adds. */
  def isWhole(dataType: DataType): Boolean = dataType match {
    case _: IntegralType | DateType | TimestampType | TimestampNTZType => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => SparkTypes.isTime(dataType)
  }

  /** The encoding of a value that is not NULL. */
  def of(value: Any): Long = value match {
    case decimal: Decimal => decimal.toUnscaledLong
    case fraction @ (_: Float | _: Double) =>
      ofDouble(fraction.asInstanceOf[Number].doubleValue)
    case whole => whole.asInstanceOf[Number].longValue
  }

  /** The value that is encoded. */
  def decode(encoded: Long, dataType: DataType): Any = dataType match {
    case ByteType => encoded.toByte
    case ShortType => encoded.toShort
    case IntegerType | DateType | _: YearMonthIntervalType => encoded.toInt
    case FloatType => toDouble(encoded).toFloat
    case DoubleType => toDouble(encoded)
    case DecimalType.Fixed(precision, scale) => Decimal.createUnsafe(encoded, precision, scale)
    case _ => encoded
  }

  /** The encoding of the largest value of a type. */
  def ofLargest(dataType: DataType): Long = dataType match {
    case ByteType => Byte.MaxValue
    case ShortType => Short.MaxValue
    case IntegerType | DateType | _: YearMonthIntervalType => Int.MaxValue
    case FloatType | DoubleType => ofDouble(Double.NaN)
    case DecimalType.Fixed(precision, _) => BigInt(10).pow(precision).toLong - 1
    case _ => Long.MaxValue
  }

  /**
   * Positive doubles are ordered as their bits are, negative ones the other way round. -0.0 is
   * 0.0; NaN has one encoding, above infinity's. No double is encoded as the smallest or largest
   * LONG.
   */
  def ofDouble(value: Double): Long =
    if (value == 0.0) 0L
    else {
      val bits = java.lang.Double.doubleToLongBits(value)
      if (bits >= 0) bits else bits ^ Long.MaxValue
    }

  def toDouble(encoded: Long): Double =
    java.lang.Double.longBitsToDouble(if (encoded >= 0) encoded else encoded ^ Long.MaxValue)

  /**
   * Takes off what changes a value's type, but neither its encoding nor whether it can be
   * computed.
   */
  def strip(e: Expression): Expression = e match {
    case Alias(child, _) => strip(child)
    case KnownFloatingPointNormalized(child) => strip(child)
    case org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero(child) => strip(child)
    case c: Cast if keepsEncoding(c.child.dataType, c.dataType) => strip(c.child)
    case _ => e
  }

  private def keepsEncoding(from: DataType, to: DataType): Boolean = (from, to) match {
    case (f: IntegralType, t: IntegralType) => f.defaultSize <= t.defaultSize
    case (FloatType, DoubleType) => true
    case (f: DecimalType, t: DecimalType) => f.scale == t.scale && f.precision <= t.precision
    case (f: DayTimeIntervalType, t: DayTimeIntervalType) => f.endField <= t.endField
    case (f: YearMonthIntervalType, t: YearMonthIntervalType) => f.endField <= t.endField
    case _ => from == to
  }
}
