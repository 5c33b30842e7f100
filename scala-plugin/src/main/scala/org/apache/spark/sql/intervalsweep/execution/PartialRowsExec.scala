// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodegenContext, ExprCode, GenerateUnsafeProjection
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{
  PartialRowMerger, PartialRows, RowsAfterInput
}
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics

/**
 * A node above a join that passes complete rows on, and collects the [[PartialRows]] of each left
 * row until the end of the task.
 */
trait PartialRowsExec extends RowsAfterInput {
  protected def partialRows: PartialRows

  override lazy val metrics: Map[String, SQLMetric] = Map(
    SweepMetrics.PartialRows -> SQLMetrics.createMetric(sparkContext, "partial rows"),
    SweepMetrics.PeakMemory -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"),
    SweepMetrics.SpillSize -> SQLMetrics.createSizeMetric(sparkContext, "spill size"))

  override protected def doExecute(): RDD[InternalRow] = {
    val plan = partialRows
    val number = child.output.indexWhere(_.exprId == plan.partialRowId.exprId)
    child.execute().mapPartitionsInternal { rows =>
      val merger = plan.open()
      val project = UnsafeProjection.create(plan.ofOne, plan.input)
      val whole = rows.filter { row =>
        val isWhole = row.getLong(number) < 0
        if (!isWhole) merger.add(row)
        isWhole
      }
      whole.map(project) ++ merger.finish()
    }
  }

  override def needCopyResult: Boolean = true

  /** The Java variable of the [[PartialRowMerger]]. */
  private var merger: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val plan = ctx.addReferenceObj("partialRows", partialRows)
    merger = ctx.addMutableState(
      classOf[PartialRowMerger].getName,
      "merger",
      v => s"$v = $plan.open();",
      forceInline = true)
    produceWithRest(ctx, s"$merger.finish()", each = "")
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val evaluated = evaluateVariables(input)
    val number = input(child.output.indexWhere(_.exprId == partialRows.partialRowId.exprId)).value
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val unsafe = GenerateUnsafeProjection.createCode(
      ctx,
      BindReferences.bindReferences(child.output: Seq[Expression], child.output))
    val whole = BindReferences.bindReferences(partialRows.ofOne, child.output).map(_.genCode(ctx))
    s"""
       |$evaluated
       |if ($number < 0) {
       |  ${consume(ctx, whole)}
       |} else {
       |  ${unsafe.code}
       |  $merger.add(${unsafe.value});
       |}
     """.stripMargin
  }
}
