// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.execution.{
  ColumnarRule, ColumnarToRowExec, FilterExec, ProjectExec, SparkPlan
}
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.intervalsweep.execution.{
  IntervalSweepJoinExec, SweepInputExec, VectorRowsExec
}
import org.apache.spark.sql.intervalsweep.execution.packing.{PackedRowsExec, RowBatch}

/**
 * Has joins read the vectors of a columnar scan, filtered or not, and no rows made of them:
 * [[VectorRowsExec]]. It looks at plans into which Spark has put its transitions to rows.
 */
object ReadVectors extends ColumnarRule {
  override val postColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case exchange: BroadcastExchangeExec => exchange.withNewChildren(exchange.children.map(input))
      case join: IntervalSweepJoinExec => join.withNewChildren(join.children.map(input))
    }
  }

  /** Only what a join or its broadcast reads: Spark's shuffle takes rows in its own format alone. */
  private def input(plan: SparkPlan): SparkPlan = plan match {
    case _: PackedRowsExec | _: SweepInputExec => plan.withNewChildren(plan.children.map(vectors))
    case _ => plan
  }

  private def vectors(plan: SparkPlan): SparkPlan =
    if (plan.output.forall(column => RowBatch.takes(column.dataType)))
      rows(plan, plan.output).getOrElse(plan)
    else plan

  /** The rows of `plan`, of which only some columns are asked for. */
  private def rows(plan: SparkPlan, output: Seq[Attribute]): Option[VectorRowsExec] = plan match {
    case ColumnarToRowExec(child) => Some(VectorRowsExec(None, output, child))
    case ProjectExec(columns, child) if columns.forall(_.isInstanceOf[Attribute]) =>
      rows(child, output)
    case FilterExec(condition, child) if isPlain(condition) =>
      rows(child, output).filter(_.condition.isEmpty).map(_.copy(condition = Some(condition)))
    case _ => None
  }

  private def isPlain(condition: Expression): Boolean =
    condition.deterministic && !condition.containsPattern(TreePattern.PLAN_EXPRESSION)
}
