// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.intervalsweep.functions.distances.{DifferenceAtMost, WholeUnits}
import org.apache.spark.sql.types._

/**
 * Whether an expression raises no error for any row. If so, it is safe to evaluate for rows that
 * short-circuiting would have skipped. Expressions that are not listed here may fail.
 */
private[intervalsweep] object IsTotal {

  def apply(e: Expression): Boolean =
    hasValue(e) && e.children.forall(apply) || e.foldable && Try(e.eval()).isSuccess

  private def hasValue(e: Expression): Boolean = e match {
    case _: Attribute | _: BoundReference | _: Literal | _: Alias => true
    case _: GetStructField | _: CreateNamedStruct => true
    case scalar: ScalarSubquery => !scalar.isCorrelated
    case c: Cast => c.evalMode == EvalMode.TRY ||
      castHasValue(c.child.dataType, c.dataType, c.evalMode)
    case a: Add => wraps(a.dataType, a.evalMode) || fitsSum(a.left.dataType, a.right.dataType)
    case s: Subtract => wraps(s.dataType, s.evalMode) || fitsSum(s.left.dataType, s.right.dataType)
    case m: Multiply =>
      wraps(m.dataType, m.evalMode) || fitsProduct(m.left.dataType, m.right.dataType)
    case UnaryMinus(child, fails) => isFractional(child.dataType) ||
      !fails && isNumeric(child.dataType)
    case Abs(child, fails) => isFractional(child.dataType) || !fails && isNumeric(child.dataType)
    case _: DateAdd | _: DateSub | _: DateDiff | _: ExtractANSIIntervalDays | _: WholeUnits => true
    case _: Coalesce | _: If | _: CaseWhen | _: Greatest | _: Least => true
    case _: BinaryComparison | _: And | _: Or | _: Not | _: IsNull | _: IsNotNull => true
    case _: PeriodEndpoint | _: DecodedEndpoint | _: DifferenceAtMost => true
    case _: Upper | _: Lower | _: Substring | _: StringTrim => true
    case _: KnownNotNull | _: KnownNullable | _: UnscaledValue => true
    case _: KnownFloatingPointNormalized | _: NormalizeNaNAndZero => true
    case d: Divide => isFractional(d.dataType) &&
      (d.evalMode != EvalMode.ANSI || isNotZero(d.right))
    case d: IntegralDivide => isNotZero(d.right)
    case r: Remainder => r.dataType.isInstanceOf[IntegralType] && isNotZero(r.right)
    case p: Pmod => p.dataType.isInstanceOf[IntegralType] && isNotZero(p.right)
    case _: Floor | _: Ceil => !isFractional(e.children.head.dataType)
    case r: Round => isFractional(r.dataType) && r.scale.foldable
    case g: GetArrayItem => !g.failOnError
    case _: GetMapValue | _: Size | _: Length | _: Concat => true
    case _: StringTrimLeft | _: StringTrimRight | _: StringLPad | _: StringRPad => true
    case _ => isOfTime(e)
  }

  /** Whether Spark's type for the sum of two decimals has all of its digits. */
  private def fitsSum(left: DataType, right: DataType): Boolean = (left, right) match {
    case (DecimalType.Fixed(p, s), DecimalType.Fixed(q, t)) =>
      math.max(s, t) + math.max(p - s, q - t) + 1 <= DecimalType.MAX_PRECISION
    case _ => false
  }

  private def fitsProduct(left: DataType, right: DataType): Boolean = (left, right) match {
    case (DecimalType.Fixed(p, _), DecimalType.Fixed(q, _)) => p + q + 1 <=
        DecimalType.MAX_PRECISION
    case _ => false
  }

  /** Functions of dates and timestamps without overflow. */
  private def isOfTime(e: Expression): Boolean = e match {
    case _: UnixMicros | _: UnixMillis | _: UnixSeconds | _: UnixDate => true
    case _: MicrosToTimestamp | _: DateFromUnixDate => true
    case _: UnixTimestamp | _: ToUnixTimestamp | _: Hour | _: Minute | _: Second =>
      isTimestamp(e.children.head.dataType)
    case _: Year | _: Quarter | _: Month | _: WeekOfYear => true
    case _: DayOfYear | _: DayOfMonth | _: DayOfWeek | _: WeekDay => true
    case _ => false
  }

  private def isTimestamp(dataType: DataType): Boolean =
    dataType == TimestampType || dataType == TimestampNTZType

  /** Whether division by a constant raises no error: -1 may overflow. */
  private def isNotZero(divisor: Expression): Boolean = divisor match {
    case Literal(n: Number, _) => n.doubleValue != 0 && n.doubleValue != -1
    case Cast(child, _, _, _) => isNotZero(child)
    case _ => false
  }

  private def wraps(dataType: DataType, mode: EvalMode.Value): Boolean =
    isFractional(dataType) || isNumeric(dataType) && mode != EvalMode.ANSI

  private def isNumeric(dataType: DataType): Boolean = dataType.isInstanceOf[NumericType]

  private def isFractional(dataType: DataType): Boolean =
    dataType == FloatType || dataType == DoubleType

  // Some up-casts fail: DATE to TIMESTAMP does for a date some 300,000 years away.
  private def castHasValue(from: DataType, to: DataType, mode: EvalMode.Value): Boolean =
    (from, to) match {
      case (_: NumericType, _: NumericType) => mode == EvalMode.LEGACY || Cast.canUpCast(from, to)
      case (TimestampType | TimestampNTZType, DateType) => true
      case (TimestampType, LongType | FloatType | DoubleType) => true
      case (BooleanType, _: NumericType) => true
      case (_: StringType, _: NumericType | DateType) => mode == EvalMode.LEGACY
      case (_: StringType, BinaryType) | (_: NumericType | BooleanType, StringType) => true
      case (f: DayTimeIntervalType, t: DayTimeIntervalType) => f.endField <= t.endField
      case (f: YearMonthIntervalType, t: YearMonthIntervalType) => f.endField <= t.endField
      case _ => from == to
    }
}
