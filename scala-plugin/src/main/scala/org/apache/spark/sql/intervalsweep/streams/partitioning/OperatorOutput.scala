// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, AttributeSet, GenericInternalRow, GetStructField, IsNull,
  JoinedRow
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{DataType, ObjectType, StructField, StructType}

/**
 * The rows that come out of the partitions of a stream operator. Spark's operator, and the node that
 * collects its counts, do some work for each object that they hand on: here that is an iterator of
 * all rows of a partition, and then a row of its counts.
 * {{{
 *   OperatorOutput              rows
 *     CollectMetrics
 *       TransformWithState  struct(NULL, rows), struct(counts, NULL)  of each partition
 * }}}
 * In real-time mode a row is not to wait for others, and Spark takes no nodes but those that it
 * knows: there each row is an object.
 *
 * @param partitions the column of `child` that has these
 */
case class OperatorOutput(
    partitions: Attribute,
    override val output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def producedAttributes: AttributeSet = AttributeSet(output)

  override protected def withNewChildInternal(newChild: LogicalPlan): OperatorOutput =
    copy(child = newChild)

  /** The same by Spark's own nodes. */
  private[intervalsweep] def inRealTime: LogicalPlan = {
    val fields = output.zipWithIndex.map { case (a, i) => StructField(s"c$i", a.dataType) }
    val single = AttributeReference(
      partitions.name,
      OperatorOutput.schema(OperatorOutput.countsOf(partitions.dataType), fields),
      nullable = false)(partitions.exprId)
    val rows = child.transformAllExpressions {
      case a: AttributeReference if a.exprId == partitions.exprId => single
    }
    val named = output.zipWithIndex.map { case (a, i) =>
      Alias(GetStructField(single, i + 1), a.name)(exprId = a.exprId)
    }
    Project(named, Filter(IsNull(GetStructField(single, OperatorOutput.Counts)), rows))
  }
}

object OperatorOutput {

  /** The field that has the counts, and the one that has the rows. */
  val Counts = 0
  private val Rows = 1
  private val RowsType = ObjectType(classOf[Iterator[_]])

  /** Of an operator that hands on the rows of a partition together. */
  def schema(counts: StructType): StructType =
    schema(counts, Seq(StructField("rows", RowsType)))

  private def schema(counts: DataType, others: Seq[StructField]): StructType =
    StructType(StructField("counts", counts) +: others)

  private def countsOf(partitions: DataType): DataType =
    partitions.asInstanceOf[StructType](Counts).dataType

  /**
   * What a processor returns.
   *
   * @param rows     each valid until the next one
   * @param counts   known when all rows have been taken
   * @param isSingle whether each row is an object
   */
  def objects(
      rows: Iterator[InternalRow],
      counts: => InternalRow,
      isSingle: Boolean): Iterator[InternalRow] = {
    def end = Iterator.single(counts).map(c => InternalRow(c, null))
    if (isSingle) {
      val (none, row) = (new GenericInternalRow(1), new JoinedRow)
      rows.map(row(none, _)) ++ end
    } else Iterator.single(InternalRow(null, rows)) ++ end
  }

  /** The rows of an object that are handed on together; none if it has counts. */
  private[streams] def of(partition: InternalRow): Iterator[InternalRow] =
    if (partition.isNullAt(Rows)) Iterator.empty
    else partition.get(Rows, RowsType).asInstanceOf[Iterator[InternalRow]]
}

/** Takes the rows out of the objects. */
case class OperatorOutputExec(override val output: Seq[Attribute], child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "OperatorOutput"

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val numRows = longMetric("numOutputRows")
    child.execute().mapPartitionsInternal { partitions =>
      partitions.flatMap(partition => OperatorOutput.of(partition.getStruct(0, 2))).map { row =>
        numRows += 1
        row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): OperatorOutputExec =
    copy(child = newChild)
}
