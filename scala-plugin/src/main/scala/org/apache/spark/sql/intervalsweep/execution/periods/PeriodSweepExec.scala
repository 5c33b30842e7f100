// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.temporal.PeriodRule

/**
 * Sweeps over changes that come by value and time, sorted and spilled by Spark. What is kept is the
 * starts of the current value that have no end yet, not the rows.
 */
case class PeriodSweepExec(
    rule: PeriodRule,
    values: Seq[Attribute],
    time: Attribute,
    left: Attribute,
    right: Attribute,
    override val output: Seq[Attribute],
    child: SparkPlan)
    extends UnaryExecNode {

  override def nodeName: String = "PeriodSweep"

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${rule.name}, by ${values.mkString("[", ", ", "]")}"

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(if (values.isEmpty) AllTuples else ClusteredDistribution(values))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq((values :+ time).map(SortOrder(_, Ascending)))

  /** That of the child, in the names of the values that are emitted. */
  override def outputPartitioning: Partitioning = {
    val names = AttributeMap(values.zip(output))
    child.outputPartitioning match {
      case e: Expression with Partitioning =>
        e.transform { case a: Attribute => names.getOrElse(a, a) }.asInstanceOf[Partitioning]
      case other => other
    }
  }

  override lazy val metrics: Map[String, SQLMetric] = Map(
    SweepMetrics.OutputRows -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = longMetric(SweepMetrics.OutputRows)
    child.execute().mapPartitionsInternal { changes =>
      val periods = new SweptPeriods(
        rule,
        changes,
        UnsafeProjection.create(values, child.output),
        place(time),
        place(left),
        place(right))
      val result = GenerateUnsafeProjection.generate(
        output.zipWithIndex.map { case (a, i) => BoundReference(i, a.dataType, a.nullable) })
      periods.map { row =>
        rows += 1
        result(row)
      }
    }
  }

  private def place(column: Attribute): Int =
    child.output.indexWhere(_.exprId == column.exprId)

  override protected def withNewChildInternal(newChild: SparkPlan): PeriodSweepExec =
    copy(child = newChild)
}
