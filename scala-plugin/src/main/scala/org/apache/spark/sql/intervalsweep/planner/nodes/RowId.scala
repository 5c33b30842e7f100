// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nodes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * A number that distinguishes rows that are equal in all columns. It is like
 * monotonically_increasing_id, but never visible to users, so any unique value will do.
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

  /** A projection that adds a row id. */
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
   * Rows that get the same ids if Spark computes some of them again. Spark does so when it loses
   * the output of a task, and some of the tasks that read this output may have seen the old ids.
   * Files return their rows in the same order again. Rows from a shuffle have no fixed order and
   * are sorted, as Spark itself sorts rows before it distributes them round-robin.
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
