// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.execution.aggregates.RowsAfterInput
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.ReturnsBatches
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  MeasureKind, PeriodMeasure, PeriodRule, PeriodSweep
}

/**
 * Adds up the rows of each task before they are sent to a sweep over sums. It returns rows with the
 * same keys and the same sums at each instant: fewer rows, if many start or end at the same
 * instants.
 *
 * @param measures the sums, over the columns of the child
 * @param output the keys, the start and the end of a period, and the sums
 */
case class PartialSumsExec(
    keys: Seq[Attribute],
    from: Attribute,
    to: Attribute,
    measures: Seq[PeriodMeasure],
    override val output: Seq[Attribute],
    child: SparkPlan)
    extends RowsAfterInput {

  override def nodeName: String = "PartialSums"

  override def producedAttributes: AttributeSet =
    AttributeSet(output.drop(keys.size) ++ measures.map(_.state))

  override def simpleString(maxFields: Int): String =
    s"$nodeName by ${keys.mkString("[", ", ", "]")}, of ${measures.mkString("[", ", ", "]")}"

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = {
    val all = SweepMetrics.create(sparkContext)
    Seq(SweepMetrics.OutputRows, SweepMetrics.PeakMemory).map(name => name -> all(name)).toMap
  }

  private def plan: PartialSumsPlan = new PartialSumsPlan(
    PeriodColumns(child.output, keys, from, to, measures.map(_.input)),
    conf.getConf(IntervalSweepConf.BatchRows),
    conf.getConf(IntervalSweepConf.PartialSums) == "always",
    metrics(SweepMetrics.PeakMemory))

  override protected def doExecute(): RDD[InternalRow] = {
    val (plan, counter) = (this.plan, metrics(SweepMetrics.OutputRows))
    child.execute().mapPartitionsInternal { rows =>
      val sums = plan.open()
      BatchedSums.of(rows, sums, plan.columns, counter)
        .getOrElse(PartialSumsExec.oneByOne(rows, sums, plan.columns, counter))
    }
  }

  /** Rows that come in batches stay in batches; generated code would make rows of them. */
  override def supportCodegen: Boolean = !child.isInstanceOf[ReturnsBatches]

  /** The Java variable of the [[PartialSums]]. */
  private var sums: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val plan = ctx.addReferenceObj("partialSumsPlan", this.plan)
    sums = ctx.addMutableState(classOf[PartialSums].getName, "partialSums", forceInline = true)
    s"""
       |if ($sums == null) $sums = $plan.open();
       |${produceWithRest(ctx, s"$sums.finish()", counted(ctx))}
     """.stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val evaluated = evaluateVariables(input)
    def bound(e: Expression): Expression = BindReferences.bindReference(e, child.output)
    val numbers = (Seq(from, to) ++ measures.map(_.input)).map(bound(_).genCode(ctx))
    val stored = numbers.zipWithIndex.map { case (number, k) =>
      s"$sums.numbers()[$k] = ${number.value};"
    }
    val past = keys.map(bound(_).genCode(ctx)) ++ numbers.map(_.copy(code = EmptyBlock))
    val key = GenerateUnsafeProjection.createCode(ctx, keys.map(bound))
    s"""
       |$evaluated
       |${evaluateVariables(numbers)}
       |if ($sums.isPast()) {
       |  ${counted(ctx)}
       |  ${consume(ctx, past)}
       |} else {
       |  ${key.code}
       |  ${stored.mkString("\n")}
       |  $sums.add(${key.value});
       |}
     """.stripMargin
  }

  private def counted(ctx: CodegenContext): String =
    s"${metricTerm(ctx, SweepMetrics.OutputRows)}.add(1);"

  override protected def withNewChildInternal(newChild: SparkPlan): PartialSumsExec =
    copy(child = newChild)
}

object PartialSumsExec {

  /** Partial sums of the rows of a sweep, and the sweep over them. */
  def below(sweep: PeriodSweep, child: SparkPlan): (PartialSumsExec, PeriodSweep) = {
    import sweep.{keys, measures}
    val sums = measures.map(m => AttributeReference("sum", m.dataType, nullable = false)())
    val (from, to) = (sweep.from.newInstance(), sweep.to.newInstance())
    val partial = PartialSumsExec(
      keys,
      sweep.from,
      sweep.to,
      measures,
      keys ++ Seq(from, to) ++ sums,
      child)
    val taken = measures.zip(sums).map { case (measure, sum) => measure.copy(input = sum) }
    (partial, sweep.copy(from = from, to = to, measures = taken))
  }

  /** True if a sweep may add up partial sums. */
  def applies(sweep: PeriodSweep): Boolean =
    sweep.conf.getConf(IntervalSweepConf.PartialSums) != "never" &&
      sweep.measures.nonEmpty && sweep.measures.forall(_.kind == MeasureKind.Sum) &&
      (sweep.rule match {
        // A key without valid rows has no results.
        case PeriodRule.Values(ofEmpty) => !ofEmpty || sweep.keys.isEmpty
        case _ => false
      })

  private def oneByOne(
      rows: Iterator[InternalRow],
      sums: PartialSums,
      columns: PeriodColumns,
      counter: SQLMetric): Iterator[InternalRow] = {
    val reader = new KeyReader(columns, PeriodChunk.NoLimits)
    val narrow = new NarrowRows(columns)
    val past = rows.filter { row =>
      val isPast = sums.isPast
      if (!isPast) {
        reader.take(row)
        sums.numbers.indices.foreach(k => sums.numbers(k) = reader.number(k))
        sums.add(reader.keys(row))
      }
      isPast
    }
    (past.map(narrow.of) ++ sums.finish()).map { row =>
      counter.add(1)
      row
    }
  }
}
