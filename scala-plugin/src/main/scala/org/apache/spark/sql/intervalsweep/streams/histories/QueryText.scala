// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, Expression, SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  Closed, FragmentKind, Invalid, Nulls, PeriodRule
}
import org.apache.spark.sql.intervalsweep.temporal.streams.SequencedStream

/**
 * A query as text, by which a checkpoint identifies it. The text has the operators, expressions and
 * types of columns. Columns are numbered in the order of their first occurrence, so that the text
 * is the same in each session.
 */
private[histories] object QueryText {

  def apply(stream: SequencedStream): String = {
    val text = new QueryText
    val parts = stream.inputs.map(text.of) :+ text.of(stream.query.body)
    (parts ++ stream.query.period.map(_.toString) ++ stream.maxLength.map(_.toString))
      .mkString("; ")
  }
}

private final class QueryText {
  private val numbers = scala.collection.mutable.HashMap.empty[Long, Int]

  def of(plan: LogicalPlan): String = {
    val below = plan.children.map(of)
    val columns = if (plan.children.isEmpty) plan.output.map(typed) else Nil
    val parts = columns ++ choices(plan) ++ plan.expressions.map(of) ++ below
    s"${plan.nodeName}(${parts.mkString(", ")})"
  }

  /** What the user has chosen for an operator, such as the type of a join, besides expressions. */
  private def choices(plan: LogicalPlan): Seq[String] = plan.productIterator.collect {
    case choice @ (_: Boolean | _: JoinType | _: PeriodRule | _: FragmentKind | _: Nulls |
        _: Invalid | _: Closed) => choice.toString
  }.toSeq

  private def typed(column: Attribute): String = s"${name(column)} ${column.dataType.sql}"

  private def name(column: Attribute): String =
    s"c${numbers.getOrElseUpdate(column.exprId.id, numbers.size)}"

  private def of(e: Expression): String = e match {
    case alias: Alias => s"${of(alias.child)} AS ${name(alias.toAttribute)}"
    case column: Attribute => name(column)
    case subquery: SubqueryExpression => s"${subquery.nodeName}(${of(subquery.plan)})"
    case other => other.transform {
        case column: AttributeReference => column.withName(name(column)).withQualifier(Nil)
      }.sql
  }
}
