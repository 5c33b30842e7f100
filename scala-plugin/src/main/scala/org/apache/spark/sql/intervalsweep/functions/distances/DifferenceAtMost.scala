// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.types._

/**
 * `later - earlier <= limit`, computed exactly. It neither wraps nor throws, and it is NULL if and
 * only if one of the three is NULL. `later` and `earlier` have the same type. This type determines
 * the unit of the difference and the type of the limit:
 * {{{
 *   type of later and earlier      limit            the difference is counted in
 *   BYTE, SHORT, INT, LONG         LONG             ones
 *   DATE                           LONG             days
 *   TIMESTAMP, TIMESTAMP_NTZ       LONG             microseconds elapsed
 *   TIME                           LONG             nanoseconds
 *   DECIMAL(p <= 18, s)            LONG             10^-s, the unit of the unscaled values
 *   DECIMAL(p > 18, s)             DECIMAL, DOUBLE  ones, exactly, whatever the limit's scale
 *   FLOAT, DOUBLE                  DOUBLE           ones, the difference rounded to a DOUBLE
 * }}}
 * With a LONG limit, the difference and the comparison are those of unbounded integers.
 *
 * With FLOAT and DOUBLE, a difference that is NaN or infinite exceeds every limit, including the
 * limits NaN and infinity. A limit of NaN is larger than every finite difference. Every relation
 * with a parameter also demands `earlier <= later`. Together, the matching values of `later` are
 * one range that starts at `earlier`. No value matches an `earlier` that is NaN or infinite.
 *
 * [[DifferenceAtMost.of]] builds it from the parameter as given in SQL.
 */
case class DifferenceAtMost(later: Expression, earlier: Expression, limit: Expression)
    extends TernaryExpression with Predicate {

  override def first: Expression = later
  override def second: Expression = earlier
  override def third: Expression = limit

  override def nullIntolerant: Boolean = true

  override def prettyName: String = "difference_at_most"

  override def sql: String = s"((${later.sql} - ${earlier.sql}) <= ${limit.sql})"

  override def toString: String = s"(($later - $earlier) <= $limit)"

  override def checkInputDataTypes(): TypeCheckResult = {
    val wanted = DifferenceAtMost.limitTypes(later.dataType)
    if (later.dataType == earlier.dataType && wanted.exists(_.acceptsType(limit.dataType))) {
      TypeCheckResult.TypeCheckSuccess
    } else {
      TypeCheckResult.TypeCheckFailure(
        "the endpoints must have one type and the limit the type of their distance; got " +
          s"${later.dataType.sql} - ${earlier.dataType.sql} <= ${limit.dataType.sql}")
    }
  }

  @transient private lazy val compare: (Any, Any, Any) => Boolean = later.dataType match {
    case FloatType | DoubleType =>
      (l, e, m) => Differences.atMost(toDouble(l), toDouble(e), toDouble(m))
    case DifferenceAtMost.Unscaled(_) =>
      (l, e, m) =>
        Differences.atMost(decimal(l).toUnscaledLong, decimal(e).toUnscaledLong, toLong(m))
    case _: DecimalType if limit.dataType == DoubleType =>
      (l, e, m) => Differences.atMost(decimal(l), decimal(e), toDouble(m))
    case _: DecimalType =>
      (l, e, m) => Differences.atMost(decimal(l), decimal(e), decimal(m))
    case _ =>
      (l, e, m) => Differences.atMost(toLong(l), toLong(e), toLong(m))
  }

  private def toDouble(value: Any): Double = value.asInstanceOf[Number].doubleValue
  private def toLong(value: Any): Long = value.asInstanceOf[Number].longValue
  private def decimal(value: Any): Decimal = value.asInstanceOf[Decimal]

  override protected def nullSafeEval(later: Any, earlier: Any, limit: Any): Any =
    compare(later, earlier, limit)

  // Java widens BYTE to LONG and FLOAT to DOUBLE when it selects the overload.
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val unscaled = later.dataType match {
      case DifferenceAtMost.Unscaled(_) => ".toUnscaledLong()"
      case _ => ""
    }
    val differences = Differences.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, (l, e, m) => s"$differences.atMost($l$unscaled, $e$unscaled, $m)")
  }

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression): DifferenceAtMost =
    copy(later = newFirst, earlier = newSecond, limit = newThird)
}

object DifferenceAtMost {

  /**
   * Builds the comparison for a parameter of any type that the functions accept. If the parameter
   * is a literal, so is the limit.
   *
   * The difference of two LONGs may be beyond the LONGs, and so may a parameter that is not an
   * integer. If the parameter is not a literal within the LONGs, all three become decimals.
   */
  def of(later: Expression, earlier: Expression, parameter: Expression): DifferenceAtMost =
    (later.dataType, parameter.dataType) match {
      case (LongType, _: FractionalType) if !fitsLong(parameter) =>
        val wide = DecimalType.forType(LongType)
        DifferenceAtMost(Cast(later, wide), Cast(earlier, wide), limit(parameter, wide))
      case (endpoints, _) => DifferenceAtMost(later, earlier, limit(parameter, endpoints))
    }

  private def fitsLong(parameter: Expression): Boolean = parameter match {
    case _: Literal =>
      !Set[Any](Long.MinValue, Long.MaxValue).contains(WholeUnits(parameter, 0).eval())
    case _ => false
  }

  private def limit(parameter: Expression, endpoints: DataType): Expression = {
    val converted = (endpoints, parameter.dataType) match {
      case (DateType, _: DayTimeIntervalType) =>
        castTo(ExtractANSIIntervalDays(parameter), LongType)
      case (_: IntegralType | DateType, _: IntegralType) => castTo(parameter, LongType)
      case (FloatType | DoubleType, _) => castTo(parameter, DoubleType)
      case (Unscaled(scale), _) => WholeUnits(parameter, scale)
      case (_: DecimalType, whole: IntegralType) => castTo(parameter, DecimalType.forType(whole))
      case (_: DecimalType, FloatType) => castTo(parameter, DoubleType)
      case (_: DecimalType, _) => parameter
      case (time, _: DayTimeIntervalType) if SparkShims.isTime(time) => WholeUnits(parameter, 3)
      case _ => WholeUnits(parameter, 0)
    }
    parameter match {
      case _: Literal => Literal.create(converted.eval(), converted.dataType)
      case _ => converted
    }
  }

  private def castTo(e: Expression, dataType: DataType): Expression =
    if (e.dataType == dataType) e else Cast(e, dataType)

  /** The types of a limit. Empty if the type of the endpoints has no distance. */
  private def limitTypes(endpoints: DataType): Seq[AbstractDataType] = endpoints match {
    case _: IntegralType | DateType | TimestampType | TimestampNTZType => Seq(LongType)
    case FloatType | DoubleType => Seq(DoubleType)
    case Unscaled(_) => Seq(LongType)
    case _: DecimalType => Seq(DecimalType, DoubleType)
    case time if SparkShims.isTime(time) => Seq(LongType)
    case _ => Seq.empty
  }

  /** Matches a decimal type whose unscaled values, and so their differences, are LONGs. */
  private object Unscaled {
    def unapply(dataType: DataType): Option[Int] = dataType match {
      case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS => Some(d.scale)
      case _ => None
    }
  }
}
