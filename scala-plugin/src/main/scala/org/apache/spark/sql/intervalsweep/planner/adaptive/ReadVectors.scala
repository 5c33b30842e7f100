// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.adaptive

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeMap, Expression, NamedExpression
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.execution.{
  ColumnarRule, ColumnarToRowExec, FilterExec, ProjectExec, SparkPlan
}
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.intervalsweep.execution.packing.{PackedRowsExec, RowBatch}
import org.apache.spark.sql.intervalsweep.execution.{
  IntervalSweepJoinExec, SweepInputExec, VectorRowsExec
}

/**
 * Makes joins read the vectors of a columnar scan, filtered or not, without making rows of them
 * ([[VectorRowsExec]]). The rule looks at plans into which Spark has put its transitions to rows.
 */
object ReadVectors extends ColumnarRule {
  override val postColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case exchange: BroadcastExchangeExec => exchange.withNewChildren(exchange.children.map(input))
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

  private def vectors(plan: SparkPlan): SparkPlan =
    if (plan.output.forall(column => RowBatch.takes(column.dataType)))
      rows(plan, plan.output).getOrElse(plan)
    else plan

  /**
   * The requested columns of `plan`, perhaps under other names, read from vectors. None if an
   * operator other than a projection of columns or a filter stands above the scan.
   */
  private def rows(plan: SparkPlan, columns: Seq[NamedExpression]): Option[VectorRowsExec] =
    plan match {
      case ColumnarToRowExec(child) => Some(VectorRowsExec(None, columns, child))
      case ProjectExec(renamed, child) if renamed.forall(isColumn) =>
        val sources = AttributeMap(renamed.map(e => e.toAttribute -> e))
        rows(child, columns.map(of(sources, _)))
      case FilterExec(condition, child) if isPlain(condition) =>
        rows(child, columns)
          .filter(r => r.condition.isEmpty && condition.references.subsetOf(r.child.outputSet))
          .map(_.copy(condition = Some(condition)))
      case _ => None
    }

  private def isColumn(e: NamedExpression): Boolean = e match {
    case Alias(_: Attribute, _) => true
    case _ => e.isInstanceOf[Attribute]
  }

  /** The source of a projection's column, under the column's name. */
  private def of(
      sources: AttributeMap[NamedExpression],
      column: NamedExpression): NamedExpression = column match {
    case alias @ Alias(a: Attribute, _) => sources(a) match {
        case Alias(source, _) => Alias(source, alias.name)(alias.exprId)
        case _ => alias
      }
    case a: Attribute => sources(a)
    case other => other
  }

  private def isPlain(condition: Expression): Boolean =
    condition.deterministic && !condition.containsPattern(TreePattern.PLAN_EXPRESSION)
}
