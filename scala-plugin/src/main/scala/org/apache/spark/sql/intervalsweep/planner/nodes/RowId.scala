// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * Tells rows apart that are equal in all columns. Of Spark's own numbers of rows it differs in that
 * no user sees it, so that it does not matter which of the numbers a row has.
 */
case class RowId(child: Expression = MonotonicallyIncreasingID()) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def eval(input: InternalRow): Any = child.eval(input)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    child.genCode(ctx)
  override protected def withNewChildInternal(newChild: Expression): RowId =
    copy(child = newChild)
}

object RowId {

  /** A projection that gives rows an identity. */
  object Of {
    def unapply(plan: LogicalPlan): Option[(Seq[NamedExpression], LogicalPlan)] = plan match {
      case Project(columns, child) if columns.exists(isIdentity) => Some((columns, child))
      case _ => None
    }
  }

  def isIdentity(column: NamedExpression): Boolean = column match {
    case Alias(_: RowId, _) => true
    case _ => false
  }

  /**
   * Rows whose numbers are the same if Spark computes a part of them again, as it does when it loses
   * the output of a task: then some of the tasks that read it have seen the old numbers. Files come
   * in the same order again; what comes by a shuffle does not, and is sorted, as Spark does itself
   * before it deals out rows in turn.
   */
  def repeatable(rows: LogicalPlan): LogicalPlan =
    if (isRepeatable(rows)) rows else Sort(rows.output.map(inOrder), global = false, rows)

  private def isRepeatable(plan: LogicalPlan): Boolean = plan match {
    case Project(columns, child) => columns.forall(_.deterministic) && isRepeatable(child)
    case Filter(condition, child) => condition.deterministic && isRepeatable(child)
    case _: LocalRelation | _: Range | _: OneRowRelation => true
    case relation: LogicalRelation => relation.relation.isInstanceOf[HadoopFsRelation]
    case _ => false
  }

  private def inOrder(column: Attribute): SortOrder = {
    val value =
      if (RowOrdering.isOrderable(column.dataType)) column
      else Cast(column, org.apache.spark.sql.types.StringType, Some("UTC"))
    SortOrder(value, Ascending)
  }
}
