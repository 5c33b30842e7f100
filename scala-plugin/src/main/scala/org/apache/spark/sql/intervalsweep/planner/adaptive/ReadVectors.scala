// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.adaptive

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeMap, Expression, NamedExpression
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.execution.{
  ColumnarRule, ColumnarToRowExec, FilterExec, ProjectExec, SparkPlan, UnionExec
}
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.intervalsweep.execution.packing.{
  PackedExchangeExec, PackedRowsExec, RowBatch
}
import org.apache.spark.sql.intervalsweep.execution.periods.{PartialSumsExec, PeriodSweepExec}
import org.apache.spark.sql.intervalsweep.execution.{
  BatchUnionExec, IntervalSweepJoinExec, SweepInputExec, VectorRowsExec
}

/**
 * Makes joins, and packed exchanges, read the vectors of a columnar scan, filtered or not, without
 * making rows of them ([[VectorRowsExec]]). The rule looks at plans into which Spark has put its
 * transitions to rows.
 */
object ReadVectors extends ColumnarRule {
  override val postColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case exchange: BroadcastExchangeExec => exchange.withNewChildren(exchange.children.map(input))
      case exchange: PackedExchangeExec => exchange.withNewChildren(exchange.children.map(sent))
      case sweep: PeriodSweepExec if sweep.isByRanges =>
        sweep.withNewChildren(sweep.children.map(sent))
      case join: IntervalSweepJoinExec => join.withNewChildren(join.children.map(input))
    }
  }

  /**
   * Changes the input of a join or its broadcast only: Spark's shuffle takes only its own row
   * format.
   */
  private def input(plan: SparkPlan): SparkPlan = plan match {
    case _: PackedRowsExec | _: SweepInputExec => plan.withNewChildren(plan.children.map(vectors))
    case _ => plan
  }

  /** Changes the input of a packed exchange, or of a node that sends its rows in the same way. */
  private def sent(plan: SparkPlan): SparkPlan = plan match {
    case _: SweepInputExec | _: PartialSumsExec => plan.withNewChildren(plan.children.map(sent))
    case union: UnionExec =>
      val inputs = union.children.map(sent)
      if (inputs.exists(_.isInstanceOf[VectorRowsExec])) BatchUnionExec(union.output, inputs)
      else union
    case _ => vectors(plan)
  }

  private def vectors(plan: SparkPlan): SparkPlan =
    if (plan.output.forall(column => RowBatch.takes(column.dataType)))
      rows(plan, plan.output).getOrElse(plan)
    else plan

  /**
   * The requested columns of `plan`, read from vectors. None if [[VectorRowsExec]] does not read
   * them, or an operator other than a projection or a filter stands above the scan.
   */
  private def rows(plan: SparkPlan, columns: Seq[NamedExpression]): Option[VectorRowsExec] =
    plan match {
      case ColumnarToRowExec(child) =>
        Option.when(columns.forall(VectorRowsExec.reads))(VectorRowsExec(None, columns, child))
      case ProjectExec(projected, child) =>
        val values = AttributeMap(projected.collect { case a @ Alias(e, _) => a.toAttribute -> e })
        rows(child, columns.map(over(values, _)))
      case FilterExec(condition, child) if isPlain(condition) =>
        rows(child, columns)
          .filter(r => r.condition.isEmpty && condition.references.subsetOf(r.child.outputSet))
          .map(_.copy(condition = Some(condition)))
      case _ => None
    }

  /** A column of a projection as an expression over its input. */
  private def over(
      values: AttributeMap[Expression],
      column: NamedExpression): NamedExpression = column match {
    case a: Attribute => values.get(a).fold[NamedExpression](a)(Alias(_, a.name)(a.exprId))
    case Alias(e, name) =>
      Alias(e.transform { case a: Attribute => values.getOrElse(a, a) }, name)(column.exprId)
    case other => other
  }

  private def isPlain(condition: Expression): Boolean =
    condition.deterministic && !condition.containsPattern(TreePattern.PLAN_EXPRESSION)
}
