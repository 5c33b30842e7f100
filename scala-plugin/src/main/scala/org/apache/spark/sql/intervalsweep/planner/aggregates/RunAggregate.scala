// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.aggregates

import scala.collection.mutable.ArrayBuffer
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern._
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.condition.expressions.{AverageValue, IsTotal}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{RunKind, RunOperand, RunValue}
import org.apache.spark.sql.types._

/** Rewrites an aggregate function over pairs as one over rows that stand for several pairs. */
private[planner] object RunAggregate {

  /** The function over runs. None for a function that needs the pairs. */
  def apply(function: AggregateFunction, runs: RunValues): Option[Expression] =
    (function, RunKind.of(function)) match {
      case (_, Some((RunKind.Rows, _))) => Some(total(runs.of(RunValue.rows)))
      case (_, Some((RunKind.Count, Some(argument)))) => count(argument, runs)
      case (sum: Sum, Some((_, Some(argument)))) =>
        sumOf(argument, runs).map(sum.copy(_).toAggregateExpression())
      case (_, Some((RunKind.Least, Some(argument)))) =>
        runs.column(argument).map(c => Min(runs.of(RunValue.least(c))).toAggregateExpression())
      case (_, Some((RunKind.Greatest, Some(argument)))) =>
        runs.column(argument).map(c => Max(runs.of(RunValue.greatest(c))).toAggregateExpression())
      case _ => composed(function, runs)
    }

  /** A function without a run value of its own, computed from other run values. */
  private def composed(function: AggregateFunction, runs: RunValues): Option[Expression] =
    function match {
      case sum: Sum => decimalSum(sum, runs)
      case average: Average => averageOf(average, runs)
      case MaxBy(value, ordering) => ofExtreme(value, ordering, runs)(c =>
          Max(runs.of(RunValue.greatest(c))))
      case MinBy(value, ordering) => ofExtreme(value, ordering, runs)(c =>
          Min(runs.of(RunValue.least(c))))
      // The columns that are not run values come from an arbitrary pair of the run.
      case first @ First(argument, false) if argument.deterministic =>
        Some(first.toAggregateExpression())
      case first @ First(argument, true) => runs.column(argument)
          .filter(c => RowOrdering.isOrderable(c.column.dataType))
          .map(c => first.copy(child = runs.of(RunValue.least(c))).toAggregateExpression())
      case _ => None
    }

  /**
   * The value with the extreme ordering, from the extreme of both as a struct. Rows without an
   * ordering do not count. Of several values with one ordering, it is the extreme one; Spark returns
   * any of them.
   */
  private def ofExtreme(value: Expression, ordering: Expression, runs: RunValues)(
      extreme: RunOperand => AggregateFunction): Option[Expression] =
    if (!Seq(value, ordering).forall(e => RowOrdering.isOrderable(e.dataType))) None
    else {
      val both = CreateNamedStruct(Seq(Literal("ordering"), ordering, Literal("value"), value))
      val known = If(IsNull(ordering), Literal(null, both.dataType), both)
      runs.column(known).map(c => GetStructField(extreme(c).toAggregateExpression(), 1))
    }

  private def count(argument: Expression, runs: RunValues): Option[Expression] =
    runs.column(argument).map(c => total(runs.of(RunValue.count(c))))

  /** The sum of counts. It is 0 if there are no rows, because a count is never NULL. */
  private def total(counts: Attribute): Expression =
    Coalesce(Seq(new Sum(counts).toAggregateExpression(), Literal(0L)))

  /** The sum over a run, as BIGINT or DOUBLE. */
  private def sumOf(e: Expression, runs: RunValues): Option[Attribute] = e.dataType match {
    case _: IntegralType =>
      runs.column(narrow(e)).map(c => runs.of(RunValue.sum(c))).orElse(sumOfTwo(e, runs))
    case FloatType | DoubleType => runs.column(e).map(c => runs.of(RunValue.sum(c)))
    case _ => None
  }

  /** The operand without widening casts between integer types: sums are BIGINT in any case. */
  private def narrow(e: Expression): Expression = e match {
    case Cast(child, _: IntegralType, _, _)
        if child.dataType.isInstanceOf[IntegralType] &&
          Cast.canUpCast(child.dataType, e.dataType) =>
      narrow(child)
    case other => other
  }

  /** The sum over a run of `a + b` or `a - b`, where each side has one of the operands. */
  private def sumOfTwo(e: Expression, runs: RunValues): Option[Attribute] = {
    val operands = e match {
      case Add(a, b, _) => Some((a, b))
      case Subtract(a, b, _) => Some((a, b))
      case _ => None
    }
    for {
      (a, b) <- operands
      first <- runs.column(narrow(a))
      second <- runs.column(narrow(b))
      if first.side != second.side
      ofPair = e.transform {
        case x if x eq narrow(a) => first.ofPair
        case x if x eq narrow(b) => second.ofPair
      }
    } yield runs.of(RunValue.sumOfTwo(first, second, ofPair))
  }

  /**
   * The sum of decimals of up to 18 digits, computed from their unscaled values, which are
   * integers.
   */
  private def unscaledSum(e: Expression, runs: RunValues): Option[Expression] = e.dataType match {
    case DecimalType.Fixed(precision, scale) if precision <= Decimal.MAX_LONG_DIGITS =>
      runs.column(UnscaledValue(e)).map { c =>
        val sum = runs.of(RunValue.sum(c))
        new Sum(MakeDecimal(sum, Decimal.MAX_LONG_DIGITS + 1, scale)).toAggregateExpression()
      }
    case _ => None
  }

  private def decimalSum(sum: Sum, runs: RunValues): Option[Expression] =
    unscaledSum(sum.child, runs).map(limited(_, sum.dataType, SparkShims.evalMode(sum)))

  /** Raises an error, or returns NULL, if the sum exceeds its type; ANSI mode decides. */
  private def limited(
      sum: Expression,
      dataType: DataType,
      mode: EvalMode.Value): Expression = {
    val checked =
      CheckOverflowInSum(
        sum,
        dataType.asInstanceOf[DecimalType],
        mode != EvalMode.ANSI,
        sum.origin.context)
    If(IsNull(sum), Literal(null, dataType), checked)
  }

  private def averageOf(average: Average, runs: RunValues): Option[Expression] = for {
    sum <- average.child.dataType match {
      case DecimalType.Fixed(precision, scale) =>
        val sumType = DecimalType.bounded(precision + 10, scale)
        unscaledSum(average.child, runs).map(limited(_, sumType, average.evalMode))
      case _ =>
        sumOf(average.child, runs).map(s => new Sum(Cast(s, DoubleType)).toAggregateExpression())
    }
    n <- count(average.child, runs)
  } yield AverageValue(average, sum, n)
}

/** Collects the run values that the aggregates over a join need, each once. */
private[planner] final class RunValues(join: Join) {
  private val found = ArrayBuffer.empty[Alias]
  private val columns = AttributeMap(join.output.map(a => a -> a))
  private val checked = Map[Side, ArrayBuffer[Expression]](
    LeftSide -> ArrayBuffer.empty,
    RightSide -> ArrayBuffer.empty)
  private val computed = Map[Side, ArrayBuffer[Alias]](
    LeftSide -> ArrayBuffer.empty,
    RightSide -> ArrayBuffer.empty)

  def values: Seq[Alias] = found.toSeq

  /** Expressions that must raise their errors for rows of the side that have a match. */
  def checks(side: Side): Seq[Expression] = checked(side).toSeq

  /** The join, with the operands that are computed below it. */
  def joinWithColumns: Join = join.copy(
    left = withColumns(join.left, computed(LeftSide).toSeq),
    right = withColumns(join.right, computed(RightSide).toSeq))

  private def withColumns(plan: LogicalPlan, columns: Seq[Alias]): LogicalPlan =
    if (columns.isEmpty) plan else Project(plan.output ++ columns, plan)

  /** The column of a run value. */
  def of(value: RunValue): Attribute = named(found, value, value.prettyName)

  /**
   * An expression of one side as a column of the join. An expression that may fail must fail only
   * for rows with a match. The column is then NULL in place of the error, and the expression itself
   * becomes a check.
   */
  def column(expression: Expression): Option[RunOperand] = for {
    side <- sideOf(expression)
    // Use the nullability of the join's output.
    e = expression.transform { case a: Attribute => columns.getOrElse(a, a) }
    if e.deterministic && !e.containsAnyPattern(PLAN_EXPRESSION, OUTER_REFERENCE, PYTHON_UDF)
    operand <- e match {
      case attribute: Attribute => Some(RunOperand(side, attribute, attribute))
      case _ if mayBeAbsent(side) && !isNullOfNull(e) => None
      case _ if IsTotal(e) || isKept(side) =>
        val column = computedBelow(side, e)
        Some(RunOperand(side, column, column))
      case _ =>
        if (!checked(side).exists(_.semanticEquals(e))) checked(side) += e
        Some(RunOperand(side, computedBelow(side, TryEval(e)), e))
    }
  } yield operand

  private def computedBelow(side: Side, e: Expression): Attribute = {
    val column = named(computed(side), e, "value")
    column.withNullability(column.nullable || mayBeAbsent(side))
  }

  private def named(known: ArrayBuffer[Alias], e: Expression, name: String): Attribute =
    known.find(_.child.semanticEquals(e)).getOrElse {
      known += Alias(e, name)()
      known.last
    }.toAttribute

  /** The side of an expression. A constant may belong to either side. */
  private def sideOf(e: Expression): Option[Side] =
    if (e.references.isEmpty) Seq(LeftSide, RightSide).find(!mayBeAbsent(_))
    else if (e.references.subsetOf(join.left.outputSet)) Some(LeftSide)
    else if (e.references.subsetOf(join.right.outputSet)) Some(RightSide)
    else None

  /**
   * Whether the expression is NULL if all its columns are NULL. For an absent row it then equals
   * the column that is computed below the join.
   */
  private def isNullOfNull(e: Expression): Boolean =
    Try(e.transform { case a: Attribute => Literal(null, a.dataType) }.eval()).toOption
      .contains(null)

  /**
   * Whether the join emits each row of a side. An expression that fails for such a row fails in any
   * case, so it needs no check.
   */
  private def isKept(side: Side): Boolean = mayBeAbsent(side.other)

  private def mayBeAbsent(side: Side): Boolean = join.joinType match {
    case LeftOuter => side == RightSide
    case RightOuter => side == LeftSide
    case FullOuter => true
    case _ => false
  }
}
