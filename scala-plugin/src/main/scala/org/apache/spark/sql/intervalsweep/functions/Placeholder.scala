// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * An expression that an analyzer rule replaces. The replacement depends on the plan around it.
 */
trait Placeholder extends Expression {

  /**
   * Throws an error that says where the expression may occur. Called if no rule has replaced it.
   */
  def unknown(): Nothing

  override def nullable: Boolean = true
  override def eval(input: InternalRow): Any = unknown()
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = unknown()
}

object Placeholder {

  /** A check of resolved plans: throws an error if a placeholder is left. */
  val check: SparkSession => LogicalPlan => Unit = _ =>
    plan =>
      plan.foreachWithSubqueries { node =>
        node.expressions.foreach(_.foreach {
          case placeholder: Placeholder => placeholder.unknown()
          case _ =>
        })
      }
}
