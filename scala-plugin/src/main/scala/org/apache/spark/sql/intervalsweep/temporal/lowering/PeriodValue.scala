// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  AverageValue, DecodedEndpoint, EncodedEndpoint, EndpointEncoding, Halves
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  DecimalOfHalves, MeasureKind, PeriodMeasures
}
import org.apache.spark.sql.types._

/**
 * Aggregate functions over the valid rows, which are updated when a row starts or ends. Measures
 * keep the state, and Spark's own function computes its value from the state.
 */
private[temporal] case class PeriodValue(measures: PeriodMeasures) {

  /** The function's value over measures. None for a function that needs all rows. */
  def of(aggregate: AggregateExpression): Option[Expression] =
    if (aggregate.isDistinct || !aggregate.deterministic) None
    else of(aggregate.aggregateFunction, aggregate.filter)

  private def of(function: AggregateFunction, filter: Option[Expression]): Option[Expression] =
    function match {
      case replaced: RuntimeReplaceableAggregate => replaced.replacement match {
          case AggregateExpression(inner, _, false, more, _) =>
            of(inner, (filter ++ more).reduceOption(And(_, _)))
          case inner: AggregateFunction => of(inner, filter)
          case _ => None
        }
      case Count(arguments) => Some(count(arguments, filter))
      case sum: Sum if SparkShims.evalMode(sum) != EvalMode.TRY =>
        total(sum.child, filter, SparkShims.evalMode(sum))
          .map(value => orNull(sum.child, filter, cast(value, sum.dataType)))
      case average: Average if average.evalMode != EvalMode.TRY =>
        averaged(average.child, filter).map { value =>
          orNull(
            average.child,
            filter,
            AverageValue(average, value, count(Seq(average.child), filter)))
        }
      case Min(child) => extreme(MeasureKind.Least, child, filter, Long.MaxValue)
      case Max(child) => extreme(MeasureKind.Greatest, child, filter, Long.MinValue)
      case _ => None
    }

  private def cast(e: Expression, to: DataType): Expression =
    if (e.dataType == to) e else Cast(e, to, None, EvalMode.LEGACY)

  /** The number of rows that pass the filter and in which no argument is NULL. */
  private def count(arguments: Seq[Expression], filter: Option[Expression]): Expression = {
    val known = arguments.filter(_.nullable).map(IsNotNull(_))
    val one = (filter ++ known).reduceOption[Expression](And(_, _))
      .fold[Expression](Literal(1L))(If(_, Literal(1L), Literal(0L)))
    measures.state(MeasureKind.Sum, one)
  }

  /** The value, or NULL if there is nothing to add up. */
  private def orNull(
      child: Expression,
      filter: Option[Expression],
      value: Expression): Expression =
    If(
      EqualTo(count(Seq(child), filter), Literal(0L)),
      Literal.create(null, value.dataType),
      value)

  /** A row's value, or the neutral value if it is NULL or the row does not pass the filter. */
  private def valueOr(value: Expression, filter: Option[Expression], neutral: Any): Expression = {
    val passed =
      filter.fold(value)(If(_, value, Literal.create(null, value.dataType)))
    if (passed.nullable) Coalesce(Seq(passed, Literal(neutral))) else passed
  }

  private def integers(of: Expression): Expression = measures.state(MeasureKind.Sum, of)

  private def total(
      child: Expression,
      filter: Option[Expression],
      mode: EvalMode.Value): Option[Expression] = child.dataType match {
    case LongType =>
      val (high, low) = Halves.sums(valueOr(child, filter, 0L))(integers)
      Some(Add(Multiply(high, Literal(1L << Halves.Bits), mode), low, mode))
    case _: IntegralType => Some(integers(valueOr(cast(child, LongType), filter, 0L)))
    case _ => fractions(child, filter)
  }

  private def averaged(child: Expression, filter: Option[Expression]): Option[Expression] =
    child.dataType match {
      case LongType =>
        val (high, low) = Halves.sums(valueOr(child, filter, 0L))(integers)
        val twoTo32 = Literal((1L << Halves.Bits).toDouble)
        Some(Add(Multiply(cast(high, DoubleType), twoTo32), cast(low, DoubleType)))
      case _: IntegralType => total(child, filter, EvalMode.LEGACY)
      case _ => fractions(child, filter)
    }

  private def fractions(child: Expression, filter: Option[Expression]): Option[Expression] =
    child.dataType match {
      case DecimalType.Fixed(precision, scale) if precision <= Decimal.MAX_LONG_DIGITS =>
        val (high, low) = Halves.sums(valueOr(EncodedEndpoint(child), filter, 0L))(integers)
        Some(DecimalOfHalves(high, low, DecimalType.bounded(precision + 10, scale)))
      case FloatType | DoubleType =>
        val value = valueOr(cast(child, DoubleType), filter, 0.0)
        Some(measures.state(MeasureKind.FloatSum, value))
      case _ => None
    }

  private def extreme(
      kind: MeasureKind,
      child: Expression,
      filter: Option[Expression],
      neutral: Long): Option[Expression] =
    Option.when(EndpointEncoding.isExact(child.dataType)) {
      val value = measures.state(kind, valueOr(EncodedEndpoint(child), filter, neutral))
      val decoded = DecodedEndpoint(value, child.dataType, isPeriod = false)
      orNull(child, filter, decoded)
    }
}
