// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.compat.SparkShims.TimestampAddInterval
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EncodedEndpoint, EndpointEncoding, ExactSum, IsTotal, OnErrorElse
}
import org.apache.spark.sql.types._

/**
 * One operand of a comparison, as a LONG.
 *
 * @param encoded  its encoding, over the attributes of one side
 * @param hasValue whether the encoding can be computed for every row. If not, the operand can only
 *                 be a bound, which is open for the rows for which it fails
 * @param isExact  whether different values have different encodings
 */
private[condition] case class Operand(encoded: Expression, hasValue: Boolean, isExact: Boolean)

private[condition] object Operand {

  /** None if the type has no encoding. */
  def of(expression: Expression): Option[Operand] = {
    val e = EndpointEncoding.strip(expression)
    val isExact = EndpointEncoding.isExact(e.dataType)
    if (!EndpointEncoding.isSupported(e.dataType)) None
    else if (IsTotal(e)) Some(Operand(encode(e), hasValue = true, isExact))
    else Some(saturated(e).fold(Operand(encode(e), hasValue = false, isExact))(
      Operand(_, hasValue = true, isExact)))
  }

  private def encode(e: Expression): Expression = encoding(e) match {
    case encoded if e.foldable && IsTotal(e) => Literal.create(encoded.eval(), LongType)
    case encoded => encoded
  }

  /**
   * The encoding. A struct has the encoding of its first field, as Spark orders structs by their
   * first fields first. NULL in that field is less than any value.
   */
  private def encoding(e: Expression): Expression = e.dataType match {
    case _: StructType =>
      val first = e match {
        case struct: CreateNamedStruct => struct.valExprs.head
        case _ => GetStructField(e, 0)
      }
      val encoded = Coalesce(Seq(encoding(EndpointEncoding.strip(first)), Literal(Long.MinValue)))
      if (e.nullable) If(IsNull(e), Literal(null, LongType), encoded) else encoded
    case _ => EncodedEndpoint(e)
  }

  /**
   * The encoding of an expression whose only possible error is overflow. Spark's formula raises
   * that error for the row anyway, so the bound may saturate to the smallest or the largest LONG.
   */
  private def saturated(e: Expression): Option[Expression] = e match {
    case c @ Cast(date, TimestampType | TimestampNTZType, _, _) if date.dataType == DateType =>
      bySign(c, date)
    case c @ Cast(time, TimestampType | TimestampNTZType, _, _) if isTimestamp(time.dataType) =>
      bySign(c, time)
    case t @ TimestampAddInterval(time, by, _) if by.dataType.isInstanceOf[DayTimeIntervalType] =>
      bySign(t, by, time)
    case t @ TimestampAddYMInterval(time, by, _) => bySign(t, by, time)
    case d @ DateAddYMInterval(date, by) => bySign(d, by, date)
    case a @ AddMonths(date, by) => bySign(a, by, date)
    case _: Floor | _: Ceil => bySign(e, e.children.head)
    case _: TruncTimestamp | _: TruncDate => orElse(e, Literal(Long.MinValue))
    case UnixTimestamp(date, _, _, _) if date.dataType == DateType => bySign(e, date)
    case SecondsToTimestamp(n) if n.dataType.isInstanceOf[IntegralType] => bySign(e, n)
    case MillisToTimestamp(n) => bySign(e, n)
    case FromUTCTimestamp(time, zone) if zone.foldable => bySign(e, time)
    case ToUTCTimestamp(time, zone) if zone.foldable => bySign(e, time)
    case Multiply(n, Positive(), _) if n.dataType.isInstanceOf[IntegralType] => bySign(e, n)
    case Multiply(Positive(), n, _) if n.dataType.isInstanceOf[IntegralType] => bySign(e, n)
    case ExactArithmetic(terms) =>
      for (operands <- all(terms.map { case (term, _) => of(term).filter(_.hasValue) }))
        yield ExactSum.saturating(operands.map(_.encoded), terms.map(_._2))
    case _ => None
  }

  private def isTimestamp(dataType: DataType): Boolean =
    dataType == TimestampType || dataType == TimestampNTZType

  private def bySign(e: Expression, by: Expression, other: Expression*): Option[Expression] =
    Option.when((by +: other).forall(IsTotal(_))) {
      val end = encode(by) match {
        case Literal(v: Long, _) => Literal(if (v < 0) Long.MinValue else Long.MaxValue)
        case sign => If(LessThan(sign, Literal(0L)), Literal(Long.MinValue), Literal(Long.MaxValue))
      }
      OnErrorElse(EncodedEndpoint(e), end)
    }

  /** An expression that may only overflow in one direction. */
  private def orElse(e: Expression, end: Literal): Option[Expression] =
    Option.when(e.children.forall(IsTotal(_)))(OnErrorElse(EncodedEndpoint(e), end))

  private object Positive {
    def unapply(e: Expression): Boolean = e match {
      case Literal(n: Number, _: IntegralType) => n.longValue > 0
      case Cast(child, _: IntegralType, _, _) => unapply(child)
      case _ => false
    }
  }

  private[condition] def all[A](options: Seq[Option[A]]): Option[Seq[A]] =
    Option.when(options.forall(_.isDefined))(options.flatten)
}

/**
 * Sums that raise an error on overflow. Returns their terms, and whether each is subtracted.
 */
private[condition] object ExactArithmetic {
  def unapply(e: Expression): Option[Seq[(Expression, Boolean)]] =
    if (!EndpointEncoding.isWhole(e.dataType)) None
    else e match {
      case a: Add if isExact(a.dataType, a.evalMode) => Some(Seq(a.left -> false, a.right -> false))
      case s: Subtract if isExact(s.dataType, s.evalMode) =>
        Some(Seq(s.left -> false, s.right -> true))
      case UnaryMinus(child, fails) if fails || isInterval(child.dataType) =>
        Some(Seq(child -> true))
      case s: SubtractTimestamps if !s.legacyInterval && s.left.dataType == TimestampNTZType =>
        Some(Seq(s.left -> false, s.right -> true))
      case t: TimestampAddInterval if isElapsed(t) => Some(Seq(t.left -> false, t.right -> false))
      case _ => None
    }

  /** In a zone without clock changes, each day of the calendar has 24 hours. */
  private def isElapsed(t: TimestampAddInterval): Boolean =
    t.right.dataType.isInstanceOf[DayTimeIntervalType] &&
      t.zoneIdForType(t.left.dataType).getRules.isFixedOffset

  private def isExact(dataType: DataType, mode: EvalMode.Value): Boolean =
    mode == EvalMode.ANSI || isInterval(dataType)

  private def isInterval(dataType: DataType): Boolean = dataType match {
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }
}

/**
 * Sums that wrap at the ends of their type. Returns their terms, and whether each is subtracted.
 */
private[condition] object WrappingArithmetic {
  def unapply(e: Expression): Option[Seq[(Expression, Boolean)]] = e match {
    case a: Add if wraps(a.dataType, a.evalMode) => Some(Seq(a.left -> false, a.right -> false))
    case s: Subtract if wraps(s.dataType, s.evalMode) =>
      Some(Seq(s.left -> false, s.right -> true))
    case UnaryMinus(child, false) if child.dataType.isInstanceOf[IntegralType] =>
      Some(Seq(child -> true))
    case DateDiff(end, start) => Some(Seq(end -> false, start -> true))
    case DateAdd(date, days) => Some(Seq(date -> false, days -> false))
    case DateSub(date, days) => Some(Seq(date -> false, days -> true))
    case _ => None
  }

  private def wraps(dataType: DataType, mode: EvalMode.Value): Boolean =
    dataType.isInstanceOf[IntegralType] && mode == EvalMode.LEGACY
}
