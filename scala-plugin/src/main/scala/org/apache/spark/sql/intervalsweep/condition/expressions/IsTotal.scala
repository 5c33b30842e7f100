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
    case c: Cast => c.evalMode == EvalMode.TRY ||
      castHasValue(c.child.dataType, c.dataType, c.evalMode)
    case a: Add => wraps(a.dataType, a.evalMode)
    case s: Subtract => wraps(s.dataType, s.evalMode)
    case m: Multiply => wraps(m.dataType, m.evalMode)
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
      case (_: StringType, _: NumericType | DateType) => mode == EvalMode.LEGACY
      case (_: StringType, BinaryType) | (_: NumericType | BooleanType, StringType) => true
      case (f: DayTimeIntervalType, t: DayTimeIntervalType) => f.endField <= t.endField
      case (f: YearMonthIntervalType, t: YearMonthIntervalType) => f.endField <= t.endField
      case _ => from == to
    }
}
