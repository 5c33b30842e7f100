// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import java.math.{BigDecimal => JBigDecimal, BigInteger, RoundingMode}
import java.time.LocalDate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.{MICROS_PER_DAY, NANOS_PER_MICROS}
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.types._

/**
 * Rewrites `later - earlier <= limit`, if the limit and one of the two endpoints are constants, to
 * a comparison of a column with a constant, such as `later <= earlier + limit`. Data sources and
 * statistics can use such a comparison. The constant is computed without overflow and rounded like
 * [[DifferenceAtMost]].
 *
 * Invariant: together with `earlier <= later`, which every relation with a parameter demands, both
 * forms have the same value for all rows.
 *
 * Cost: constant. For doubles, a binary search of about 64 steps.
 */
object ConstantBound {

  /**
   * The comparison. None if the difference must stay, TRUE if all values of the type satisfy it.
   */
  def of(difference: DifferenceAtMost): Option[Expression] = difference match {
    case DifferenceAtMost(later, Value(earlier), Value(limit)) if !later.foldable =>
      bound(later, earlier, limit, upper = true)
    case DifferenceAtMost(Value(later), earlier, Value(limit)) if !earlier.foldable =>
      bound(earlier, later, limit, upper = false)
    case _ => None
  }

  private object Value {
    def unapply(literal: Literal): Option[Any] = Option(literal.value)
  }

  private def bound(
      column: Expression,
      anchor: Any,
      limit: Any,
      upper: Boolean): Option[Expression] =
    column.dataType match {
      case FloatType | DoubleType =>
        ofDoubles(double(anchor), double(limit), upper)
          .map(furthest => compare(column, narrowed(furthest, column.dataType, upper), upper))
      case dataType => Whole.of(dataType).filter(_ => isFinite(limit)).flatMap { whole =>
          val (at, reach) = (whole.number(anchor), whole.reach(limit))
          val furthest = (if (upper) at.add(reach) else at.subtract(reach))
            .setScale(whole.scale, if (upper) RoundingMode.FLOOR else RoundingMode.CEILING)
            .unscaledValue
          if (whole.admitsAll(furthest, upper)) Some(Literal.TrueLiteral)
          else whole.literal(furthest).map(compare(column, _, upper))
        }
    }

  /** The largest finite double whose rounded difference from `anchor` is at most `limit`. */
  def furthest(anchor: Double, limit: Double): Double =
    ofDoubles(anchor, limit, upper = true).getOrElse(anchor)

  private def compare(column: Expression, value: Literal, upper: Boolean): Expression =
    if (upper) LessThanOrEqual(column, value) else GreaterThanOrEqual(column, value)

  private def isFinite(limit: Any): Boolean = limit match {
    case fraction: Double => java.lang.Double.isFinite(fraction)
    case _ => true
  }

  private def double(value: Any): Double = value.asInstanceOf[Number].doubleValue

  /** The furthest finite double whose rounded difference from `anchor` is at most `limit`. */
  private def ofDoubles(anchor: Double, limit: Double, upper: Boolean): Option[Double] = {
    def isNear(value: Double): Boolean =
      if (upper) Differences.atMost(value, anchor, limit)
      else Differences.atMost(anchor, value, limit)
    val end = if (upper) Double.MaxValue else -Double.MaxValue
    if (!isNear(anchor)) None
    else if (isNear(end)) Some(end)
    else {
      // Differences never decrease with the distance from the anchor: so search binarily.
      var (near, far) = (OrderedDoubles.toLong(anchor), OrderedDoubles.toLong(end))
      var middle = between(near, far)
      while (middle != near && middle != far) {
        if (isNear(OrderedDoubles.toDouble(middle))) near = middle else far = middle
        middle = between(near, far)
      }
      Some(OrderedDoubles.toDouble(near))
    }
  }

  private def between(a: Long, b: Long): Long = (a & b) + ((a ^ b) >> 1)

  private def narrowed(value: Double, dataType: DataType, upper: Boolean): Literal = {
    // Use -0.0 for lower and 0.0 for upper bounds: Spark treats them as equal, Parquet statistics
    // do not.
    val outer = if (value != 0.0) value else if (upper) 0.0 else -0.0
    dataType match {
      case DoubleType => Literal(outer)
      case _ =>
        val nearest = outer.toFloat
        if (upper && nearest > outer) Literal(math.nextDown(nearest))
        else if (!upper && nearest < outer) Literal(math.nextUp(nearest))
        else Literal(nearest)
    }
  }

  /** A type whose values are multiples of 10^-`scale`, from `least` to `greatest` units. */
  private final case class Whole(
      dataType: DataType,
      scale: Int,
      least: BigInteger,
      greatest: BigInteger) {

    def number(value: Any): JBigDecimal = value match {
      case decimal: Decimal => decimal.toJavaBigDecimal
      case whole => JBigDecimal.valueOf(whole.asInstanceOf[Number].longValue)
    }

    /** The limit as a number. A LONG counts the smallest units of the endpoints. */
    def reach(limit: Any): JBigDecimal = limit match {
      case decimal: Decimal => decimal.toJavaBigDecimal
      case fraction: Double => new JBigDecimal(fraction)
      case units => JBigDecimal.valueOf(units.asInstanceOf[Number].longValue, scale)
    }

    /** Whether all values of the type are within the bound. */
    def admitsAll(bound: BigInteger, upper: Boolean): Boolean =
      if (upper) bound.compareTo(greatest) >= 0 else bound.compareTo(least) <= 0

    def literal(value: BigInteger): Option[Literal] =
      Option.when(isWritable(value))(dataType match {
        case d: DecimalType =>
          Literal(Decimal(new JBigDecimal(value, scale), d.precision, d.scale), d)
        case DateType | IntegerType => Literal(value.intValueExact, dataType)
        case ByteType => Literal(value.byteValueExact, dataType)
        case ShortType => Literal(value.shortValueExact, dataType)
        case _ => Literal(value.longValueExact, dataType)
      })

    /**
     * Whether the value can be a literal. For dates and timestamps it must be in the years 1 to
     * 9999, which are the ones that data sources support.
     */
    private def isWritable(value: BigInteger): Boolean = dataType match {
      case DateType => Whole.isOfCalendar(value, 1)
      case TimestampType | TimestampNTZType => Whole.isOfCalendar(value, MICROS_PER_DAY)
      case _ => value.compareTo(least) >= 0 && value.compareTo(greatest) <= 0
    }
  }

  private object Whole {
    private val FirstDay = LocalDate.of(1, 1, 1).toEpochDay
    private val LastDay = LocalDate.of(9999, 12, 31).toEpochDay

    def of(dataType: DataType): Option[Whole] = dataType match {
      case ByteType => some(dataType, Byte.MinValue, Byte.MaxValue)
      case ShortType => some(dataType, Short.MinValue, Short.MaxValue)
      case IntegerType | DateType => some(dataType, Int.MinValue, Int.MaxValue)
      case LongType | TimestampType | TimestampNTZType =>
        some(dataType, Long.MinValue, Long.MaxValue)
      case d: DecimalType =>
        val greatest = BigInteger.TEN.pow(d.precision).subtract(BigInteger.ONE)
        Some(Whole(d, d.scale, greatest.negate, greatest))
      case time if SparkShims.isTime(time) => some(time, 0, MICROS_PER_DAY * NANOS_PER_MICROS - 1)
      case _ => None
    }

    private def some(dataType: DataType, least: Long, greatest: Long): Option[Whole] =
      Some(Whole(dataType, 0, BigInteger.valueOf(least), BigInteger.valueOf(greatest)))

    private def isOfCalendar(value: BigInteger, unitsOfDay: Long): Boolean = {
      val unit = BigInteger.valueOf(unitsOfDay)
      value.compareTo(BigInteger.valueOf(FirstDay).multiply(unit)) >= 0 &&
      value.compareTo(BigInteger.valueOf(LastDay + 1).multiply(unit)) < 0
    }
  }
}
