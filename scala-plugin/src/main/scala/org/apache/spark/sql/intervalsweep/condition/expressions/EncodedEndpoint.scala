// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import java.math.BigInteger

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.functions.distances.OrderedDoubles
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{ByteArray, UTF8String}

/**
 * A value as a LONG that keeps Spark's order. So a sweep handles only LONGs, whatever the types of
 * the endpoints are:
 * {{{
 *   exact: one LONG for each value
 *     BYTE, SHORT, INT, LONG           the number
 *     DATE                             days
 *     TIMESTAMP, TIMESTAMP_NTZ         microseconds
 *     TIME                             nanoseconds
 *     day-time, year-month INTERVAL    microseconds, months
 *     DECIMAL(p <= 18, s)              the unscaled value
 *     FLOAT, DOUBLE                    the bits, see EndpointEncoding
 *   a prefix: values in order have LONGs in order, or the same one
 *     STRING, BINARY                   the first 8 bytes
 *     DECIMAL(p > 18, s)               see EndpointEncoding.ofUnscaled
 *     STRUCT                           the encoding of the first field, see Operand
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
          case d: DecimalType if EndpointEncoding.isExact(d) => s"$value.toUnscaledLong()"
          case _: DecimalType => s"$encoding.ofDecimal($value)"
          case _: StringType => s"$encoding.ofText($value)"
          case BinaryType => s"$encoding.ofBytes($value)"
          case FloatType | DoubleType => s"$encoding.ofDouble((double) $value)"
          case _ => s"(long) $value"
        })
  }

  override protected def withNewChildInternal(newChild: Expression): EncodedEndpoint =
    copy(child = newChild)
}

object EndpointEncoding {

  /** Types that have an encoding, exact or a prefix. */
  def isSupported(dataType: DataType): Boolean = dataType match {
    case text: StringType => text.supportsBinaryOrdering
    case BinaryType | _: DecimalType => true
    case StructType(fields) => fields.headOption.exists(first => isSupported(first.dataType))
    case _ => isExact(dataType)
  }

  /** Types in which different values have different encodings. */
  def isExact(dataType: DataType): Boolean = dataType match {
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case FloatType | DoubleType => true
    case _ => isWhole(dataType)
  }

  /** Types whose values are whole numbers of a unit, and whose sums are sums of these numbers. */
  def isWhole(dataType: DataType): Boolean = dataType match {
    case _: IntegralType | DateType | TimestampType | TimestampNTZType => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => SparkShims.isTime(dataType)
  }

  /** The encoding of a value that is not NULL. */
  def of(value: Any): Long = value match {
    case decimal: Decimal => ofDecimal(decimal)
    case text: UTF8String => ofText(text)
    case bytes: Array[Byte] => ofBytes(bytes)
    case fraction @ (_: Float | _: Double) =>
      ofDouble(fraction.asInstanceOf[Number].doubleValue)
    case whole => whole.asInstanceOf[Number].longValue
  }

  /**
   * The first 8 bytes, padded with zeros. Spark compares strings and binaries as unsigned bytes.
   */
  def ofText(value: UTF8String): Long = value.getPrefix ^ Long.MinValue

  def ofBytes(value: Array[Byte]): Long = ByteArray.getPrefix(value) ^ Long.MinValue

  def ofDecimal(value: Decimal): Long =
    if (value.precision <= Decimal.MAX_LONG_DIGITS) value.toUnscaledLong
    else ofUnscaled(value.toJavaBigDecimal.unscaledValue)

  /**
   * The encoding of a decimal's unscaled value, which has up to 127 bits. A value below 2^62 is its
   * own encoding. So it is comparable with the encodings of decimals of up to 18 digits. Above 2^62
   * the encoding works like a floating-point number: 65 blocks of 2^55 encodings follow, one block
   * for each number of bits from 63 to 127. A bound may have more bits than any value; it has the
   * last encoding.
   */
  def ofUnscaled(value: BigInteger): Long = {
    val bits = value.abs.bitLength
    if (bits <= 62) value.longValue
    else {
      val leading = value.abs.shiftRight(bits - 56).longValue
      val encoded =
        if (bits > 127) Long.MaxValue else (1L << 62) + ((bits - 64L) << 55) + leading
      if (value.signum < 0) -encoded else encoded
    }
  }

  /** The value of an exact encoding. */
  def decode(encoded: Long, dataType: DataType): Any = dataType match {
    case ByteType => encoded.toByte
    case ShortType => encoded.toShort
    case IntegerType | DateType | _: YearMonthIntervalType => encoded.toInt
    case FloatType => toDouble(encoded).toFloat
    case DoubleType => toDouble(encoded)
    case DecimalType.Fixed(precision, scale) => Decimal.createUnsafe(encoded, precision, scale)
    case _ => encoded
  }

  /** The encoding of the largest value of a type that has an exact encoding. */
  def ofLargest(dataType: DataType): Long = dataType match {
    case ByteType => Byte.MaxValue
    case ShortType => Short.MaxValue
    case IntegerType | DateType | _: YearMonthIntervalType => Int.MaxValue
    case FloatType | DoubleType => ofDouble(Double.NaN)
    case DecimalType.Fixed(precision, _) => BigInt(10).pow(precision).toLong - 1
    case _ => Long.MaxValue
  }

  /** The least and the largest encoding of a value of a type that has an exact encoding. */
  def range(dataType: DataType): (Long, Long) = {
    val largest = ofLargest(dataType)
    dataType match {
      case FloatType | DoubleType => (Long.MinValue, Long.MaxValue)
      case _: DecimalType => (-largest, largest)
      case _ => (-largest - 1, largest)
    }
  }

  def ofDouble(value: Double): Long = OrderedDoubles.toLong(value)

  def toDouble(encoded: Long): Double = OrderedDoubles.toDouble(encoded)

  /**
   * Removes casts and wrappers that change neither the encoding of a value nor whether it can be
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
