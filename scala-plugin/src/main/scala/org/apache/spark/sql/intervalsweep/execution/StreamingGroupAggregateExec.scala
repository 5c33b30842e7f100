// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodegenContext, ExprCode, GenerateUnsafeProjection
}
import org.apache.spark.sql.execution.{
  CodegenSupport, PartitioningPreservingUnaryExecNode, SparkPlan
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{PartialAggregates, PartialRowMerger}
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics

/**
 * Aggregates over the matches of each row of a join's left side, without grouping and without a
 * shuffle. The join emits each left row once, except for partial rows (`partialRowId >= 0`), which
 * are merged here.
 *
 * {{{
 *   left row 1   sum 12   partialRowId -1      ->   emitted at once
 *   left row 2   sum  5   partialRowId  7      \
 *   left row 3   sum  8   partialRowId -1       |   emitted at once
 *   left row 2   sum  1   partialRowId  7      /    emitted as 6, after the task's last row
 * }}}
 *
 * A left row has partial rows in two cases: its key group does not fit into memory, or a sum might
 * leave its type. Spark then adds up the pairs, because Spark decides what happens on overflow.
 *
 * @param partialRowId the column of the join that identifies partial rows: see
 *   `SweepNode.partialRowId`
 */
case class StreamingGroupAggregateExec(
    results: Seq[NamedExpression],
    partialRowId: Attribute,
    child: SparkPlan)
    extends PartitioningPreservingUnaryExecNode with CodegenSupport {
  override def nodeName: String = "StreamingGroupAggregate"
  override def output: Seq[Attribute] = results.map(_.toAttribute)
  override protected def outputExpressions: Seq[NamedExpression] = results

  override lazy val metrics: Map[String, SQLMetric] = Map(
    SweepMetrics.PartialRows -> SQLMetrics.createMetric(sparkContext, "partial rows"),
    SweepMetrics.PeakMemory -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"),
    SweepMetrics.SpillSize -> SQLMetrics.createSizeMetric(sparkContext, "spill size"))

  private def partialRows: PartialAggregates =
    PartialAggregates(results, partialRowId, child.output, metrics)

  override protected def doExecute(): RDD[InternalRow] = {
    val plan = partialRows
    val number = child.output.indexWhere(_.exprId == partialRowId.exprId)
    child.execute().mapPartitionsInternal { rows =>
      val sums = plan.open()
      val project = UnsafeProjection.create(plan.ofOne, plan.input)
      val whole = rows.filter { row =>
        val isWhole = row.getLong(number) < 0
        if (!isWhole) sums.add(row)
        isWhole
      }
      whole.map(project) ++ sums.finish()
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  override def needCopyResult: Boolean = true

  /** This node has a loop of its own, which a LIMIT may stop. */
  override protected def canCheckLimitNotReached: Boolean = true

  /** The Java variable of the [[PartialRowMerger]]. */
  private var sums: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val plan = ctx.addReferenceObj("partialRows", partialRows)
    sums = ctx.addMutableState(
      classOf[PartialRowMerger].getName,
      "sums",
      v => s"$v = $plan.open();",
      forceInline = true)
    val iterator = classOf[Iterator[_]].getName
    val rest = ctx.addMutableState(iterator, "partialRows", forceInline = true)
    val row = ctx.freshName("partialRowsOfOne")
    s"""
       |${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |if ($rest == null) $rest = $sums.finish();
       |while ($limitNotReachedCond $rest.hasNext()) {
       |  UnsafeRow $row = (UnsafeRow) $rest.next();
       |  ${consume(ctx, null, row)}
       |  if (shouldStop()) return;
       |}
     """.stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val evaluated = evaluateVariables(input)
    val number = input(child.output.indexWhere(_.exprId == partialRowId.exprId)).value
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
       |  $sums.add(${unsafe.value});
       |}
     """.stripMargin
  }

  override protected def withNewChildInternal(newChild: SparkPlan): StreamingGroupAggregateExec =
    copy(child = newChild)
}
