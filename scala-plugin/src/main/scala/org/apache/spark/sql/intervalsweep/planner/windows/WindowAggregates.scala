// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.intervalsweep.condition.expressions.{AverageValue, IsTotal}
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.execution.aggregates.RunKind
import org.apache.spark.sql.intervalsweep.streams.windows.WindowResult
import org.apache.spark.sql.types._

/** The columns that a stream operator reads from one side. Some are computed below the operator. */
private[planner] final class SideColumns(child: LogicalPlan, first: Seq[Attribute]) {
  private val found = ArrayBuffer.from[NamedExpression](first)

  def columns: Seq[Attribute] = found.map(_.toAttribute).toSeq

  def plan: LogicalPlan = Project(found.toSeq, child)

  def has(e: Expression): Boolean = e.references.subsetOf(child.outputSet)

  /** The column of an expression, which is computed below the operator if it is not a column. */
  def of(e: Expression): Attribute = e match {
    case a: Attribute =>
      if (!found.exists(_.exprId == a.exprId)) found += a
      a
    case _ => found.collectFirst { case alias: Alias if alias.child.semanticEquals(e) => alias }
        .getOrElse {
          val alias = Alias(e, SideColumns.name(e))()
          found += alias
          alias
        }.toAttribute
  }

  /** Adds the columns of this side that an expression reads. */
  def ofAll(e: Expression): Unit =
    e.references.filter(child.outputSet.contains).foreach(of)
}

private object SideColumns {

  /**
   * The name of a computed column: the text of its expression, the same in each run. A checkpoint
   * that stores other columns is recognized by it.
   */
  private def name(e: Expression): String = e.transform {
    case a: Attribute => a.withQualifier(Nil)
    case v: NamedLambdaVariable => v.copy(name = v.name.replaceFirst("_\\d+$", ""))
  }.sql
}

/** A condition without its bounds on time. */
private[planner] case class WindowCondition(
    keys: Seq[(Expression, Expression)],
    probeOnly: Seq[Expression],
    residual: Seq[Expression])

private[planner] object WindowCondition {
  def apply(
      conjuncts: Seq[Expression],
      base: AttributeSet,
      probe: AttributeSet): WindowCondition = {
    val (ofProbe, others) = conjuncts.partition { c =>
      c.references.nonEmpty && c.references.subsetOf(probe) && c.deterministic
    }
    val keyed = others.map(c => c -> ConditionAnalysis.keys(c, base, probe))
    WindowCondition(
      keyed.flatMap(_._2).flatten.distinct,
      ofProbe,
      keyed.collect { case (c, None) => c })
  }
}

/**
 * Collects the aggregate functions of a window, each once, and rewrites columns over their results.
 */
private[planner] final class WindowAggregates(probes: SideColumns) {
  private val found = ArrayBuffer.empty[(WindowResult, Attribute)]

  def results: Seq[WindowResult] = found.map(_._1).toSeq

  def ordinal(a: Attribute): Option[Int] =
    Some(found.indexWhere(_._2.exprId == a.exprId)).filter(_ >= 0)

  /** A selected column, over the results. */
  def of(selected: NamedExpression): NamedExpression =
    selected.transform { case e: AggregateExpression => replaced(e) }.asInstanceOf[NamedExpression]

  private def replaced(e: AggregateExpression): Expression = e.aggregateFunction match {
    case average: Average if isPlain(e) =>
      average.child.dataType match {
        case _: NumericType if !average.child.dataType.isInstanceOf[DecimalType] =>
          averageOf(average)
        case _ => result(e)
      }
    case _ => result(e)
  }

  private def isPlain(e: AggregateExpression): Boolean = !e.isDistinct && e.filter.isEmpty

  private def averageOf(average: Average): Expression = {
    val number = average.child match {
      case e if e.dataType == DoubleType => e
      case e => Cast(e, DoubleType)
    }
    AverageValue(
      average,
      result(Sum(number).toAggregateExpression()),
      result(Count(average.child).toAggregateExpression()))
  }

  private def result(e: AggregateExpression): Attribute =
    found.collectFirst { case (r, a) if r.function.semanticEquals(e) => a }.getOrElse {
      val (kind, column) = runsOf(e).unzip
      probes.ofAll(e)
      val result = WindowResult(s"value${found.size}", e, kind, column.flatten)
      val attribute = AttributeReference(result.name, e.dataType)()
      found += result -> attribute
      attribute
    }

  /**
   * The run value that computes a function, and its column; None if the function must see each row.
   */
  private def runsOf(e: AggregateExpression): Option[(RunKind, Option[Attribute])] =
    if (!isPlain(e)) None
    else RunKind.of(e.aggregateFunction).flatMap {
      case (kind, None) => Some(kind -> None)
      case (kind, Some(operand)) => columnOf(operand).map(column => kind -> Some(column))
    }

  /**
   * The column of an operand. None for an operand that may fail: the function then evaluates it,
   * for rows in a window only.
   */
  private def columnOf(operand: Expression): Option[Attribute] =
    Option.when(
      operand.references.nonEmpty && probes.has(operand) && operand.deterministic &&
        IsTotal(operand))(probes.of(operand))
}
